"""Measures Martlet against the bars of docs/performance.md. Started by script/bench, which builds first."""

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time

from object_measure import DELETES_PER_SECOND, ObjectBench
from object_report import ObjectReport
from object_seed import seed as seed_objects
from postgres import Unavailable
from session_measure import SessionBench
from session_report import SessionReport
from session_seed import seed as seed_sessions
from stores import PostgresStore, SQLiteStore
from table import machine, replace

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
IDLE_CONNECTIONS = 5000


def main():
    options = arguments()
    allow_open_files()
    os.makedirs(options.scratch, exist_ok=True)
    for part, measure in PARTS.items():
        if options.part not in (part, None):
            continue
        started, load_before = time.perf_counter(), os.getloadavg()[0]
        scratch = os.path.abspath(tempfile.mkdtemp(prefix="run-", dir=options.scratch))
        # Whoever runs the database for root must get at its folder.
        os.chmod(scratch, 0o711)
        try:
            report, more = measure(options, scratch)
        finally:
            shutil.rmtree(scratch)
        command = f"script/bench {part}" + (" --quick" if options.quick else f" --rounds {options.rounds}")
        text = machine(ROOT, started, load_before, command, more) + "\n\n" + report.text()
        print(text, flush=True)
        if options.write:
            replace(os.path.join(ROOT, "docs", "performance.md"), part, text)


def sessions(options, scratch):
    """Users and sessions. Gives the table, and what more is to be said above it."""
    sizes = [1000] if options.quick else [1000, 1_000_000]
    seconds, rounds, starts = (2, 2, 5) if options.quick else (4, options.rounds, 15)
    folders = []
    for size in sizes:
        folders.append(seed_sessions(options.martlet, os.path.join(scratch, str(size)), size, options.seed))
        progress(f"seeded {size:,} users in {folders[-1].seconds:.0f} s (random seed {options.seed})")
    bench = SessionBench(options.martlet, options.tools, scratch, folders, seconds, options.seed)
    bench.starts(starts)
    progress("starts measured")
    bench.first_checks(500)
    bench.throughput(rounds, progress)
    bench.idle_connections(IDLE_CONNECTIONS)
    bench.log_outs(200)
    return SessionReport(bench), []


def objects(options, scratch):
    """Objects in SQLite, and in PostgreSQL if there is one."""
    kept, seconds, rounds = (10_000, 1, 2) if options.quick else (500_000, 3, options.rounds)
    deletes = DELETES_PER_SECOND * seconds * rounds
    count = kept + deletes if options.quick else max(1_000_000, kept + deletes)
    stores, more = [], [f"{count:,} objects, of which {deletes:,} are there to be deleted"]
    try:
        stores.append(SQLiteStore(options.martlet, os.path.join(scratch, "sqlite")))
        try:
            stores.append(PostgresStore(options.martlet, os.path.join(scratch, "postgres")))
            more.append(f"PostgreSQL {stores[-1].cluster.version}, the settings of initdb")
        except Unavailable as reason:
            more.append(f"Without PostgreSQL: {reason}")
            progress(more[-1])
        seeded = []
        for store in stores:
            seeded.append(seed_objects(store, store.folder, count))
            progress(f"seeded {count:,} objects in {store.name} in {seeded[-1].seconds:.0f} s")
        bench = ObjectBench(options.tools, scratch, seeded, count - deletes, seconds, options.seed)
        progress(f"random seed {options.seed}")
        bench.run(rounds, progress)
    finally:
        for store in stores:
            store.stop()
    return ObjectReport(bench), more


PARTS = {"sessions": sessions, "objects": objects}


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS, help="what is measured; both if left out")
    parser.add_argument("--quick", action="store_true", help="few users and objects, two short rounds")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
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
