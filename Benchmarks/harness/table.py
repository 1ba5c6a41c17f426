"""A table of docs/performance.md, and what stands above it."""

import os
import platform
import re
import subprocess
import time


class Table:
    """Rows: what, figure, compared with what, ratio or value under the bar, bar, kept or not."""

    def __init__(self, samples):
        self.samples = samples
        self.rows = []

    def text(self):
        lines = ["| what | figure (range) | compared with | result | bar | kept |", "|---|---|---|---|---|---|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])

    def add(self, what, figure, against="", result="", bar="", kept=None):
        verdict = "" if kept is None else "yes" if kept else "**no**"
        self.rows.append((what, figure, against, result, bar, verdict))

    def rate(self, name):
        low, high = self.samples.range(name)
        return f"{rate(self.samples.median(name))} ({low:,.0f}–{high:,.0f})"

    def time(self, name):
        low, high = self.samples.range(name)
        return f"{milliseconds(self.samples.median(name))} ({low * 1e3:.2f}–{high * 1e3:.2f})"


def machine(root, started, load_before, command, more=()):
    """What the figures depend on."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    with open("/proc/meminfo") as file:
        memory = int(re.search(r"MemTotal:\s+(\d+)", file.read()).group(1)) / 1e6
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    swift = output(["swift", "--version"], root).splitlines()[0]
    changed = " with changes" if output(["git", "status", "--porcelain", "--", "Sources", "Package.swift"], root) else ""
    wrk = re.search(r"wrk \S+", output(["wrk", "-v"], root, check=False))
    return "\n".join([
        f"- Machine: {os.sysconf('SC_NPROCESSORS_ONLN')} × {model.group(1) if model else platform.machine()},"
        f" {memory:.0f} GB, {system}, Linux {platform.release()}",
        f"- Built by: {swift}, release, static standard library; load by {wrk.group(0) if wrk else 'wrk'}",
        f"- Commit: {output(['git', 'rev-parse', '--short', 'HEAD'], root)}{changed};"
        f" {time.strftime('%Y-%m-%d', time.gmtime())}",
        f"- Load average before and after: {load_before:.1f}, {os.getloadavg()[0]:.1f};"
        f" {time.perf_counter() - started:.0f} s",
        f"- Command: `{command}`",
        *(f"- {line}" for line in more),
    ])


def output(words, folder, check=True):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=check)
    return (done.stdout or done.stderr).strip()


def replace(path, part, text):
    """Puts the text between the two markers of the part in the file."""
    begin, end = f"<!-- bench {part}: begin -->", f"<!-- bench {part}: end -->"
    with open(path) as file:
        before, rest = file.read().split(begin)
    _, after = rest.split(end)
    with open(path, "w") as file:
        file.write(f"{before}{begin}\n{text}\n{end}{after}")


def rate(value):
    return f"{value:,.0f}/s"


def milliseconds(value):
    return f"{value * 1e3:.2f} ms"


def microseconds(value):
    return f"{value * 1e6:.1f} µs"


def megabytes(value):
    return f"{value / 1e6:.1f} MB"
