"""Measures Martlet against the bars of docs/performance.md. Started by script/bench, which builds first."""

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time

from measure import Bench
from report import Report, machine, replace
from seed import seed

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IDLE_CONNECTIONS = 5000


def main():
    options = arguments()
    started, load_before = time.perf_counter(), os.getloadavg()[0]
    sizes = [1000] if options.quick else [1000, 1_000_000]
    seconds, rounds, starts = (2, 2, 5) if options.quick else (4, options.rounds, 15)
    allow_open_files()
    os.makedirs(options.scratch, exist_ok=True)
    scratch = tempfile.mkdtemp(prefix="run-", dir=options.scratch)
    try:
        folders = []
        for size in sizes:
            folders.append(seed(options.martlet, os.path.join(scratch, str(size)), size, options.seed))
            progress(f"seeded {size:,} users in {folders[-1].seconds:.0f} s (random seed {options.seed})")
        bench = Bench(options.martlet, options.tools, scratch, folders, seconds, options.seed)
        bench.starts(starts)
        progress("starts measured")
        bench.first_checks(500)
        bench.throughput(rounds, progress)
        bench.idle_connections(IDLE_CONNECTIONS)
        bench.log_outs(200)
    finally:
        shutil.rmtree(scratch)
    table = Report(bench).table()
    command = "script/bench" + (" --quick" if options.quick else f" --rounds {rounds}")
    text = machine(ROOT, started, load_before, command) + "\n\n" + table
    print(text)
    if options.write:
        replace(os.path.join(ROOT, "docs", "performance.md"), text)


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 users alone and two rounds of 2 s")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    parser.add_argument("--rounds", type=int, default=4, help="how often each throughput is measured (default 4)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the random users and choices")
    for name in ("martlet", "tools", "scratch"):
        parser.add_argument(f"--{name}", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def allow_open_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = IDLE_CONNECTIONS + 500
    if hard != resource.RLIM_INFINITY and hard < needed:
        sys.exit(f"The limit of open files is {hard}; {needed} are needed: ulimit -Hn {needed}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))


def progress(text):
    print(f"# {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
