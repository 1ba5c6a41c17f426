"""Turns samples into the table of docs/performance.md."""

import os
import platform
import re
import subprocess
import time

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


class Report:
    """Rows: what, figure, compared with what, ratio or value under the bar, bar, kept or not."""

    def __init__(self, bench):
        self.samples = bench.samples
        self.small, self.large = bench.folders[0].count, bench.folders[-1].count
        self.hash_threads = bench.hash_threads
        self.rows = []

    def table(self):
        self._session_checks()
        self._passwords()
        self._beside_log_ins()
        if self.large != self.small:
            self._sizes()
        self._starts()
        self._memory()
        self._log_out()
        lines = ["| what | figure (range) | compared with | result | bar | kept |", "|---|---|---|---|---|---|"]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in self.rows])

    def _add(self, what, figure, against="", result="", bar="", kept=None):
        verdict = "" if kept is None else "yes" if kept else "**no**"
        self.rows.append((what, figure, against, result, bar, verdict))

    def _rate(self, name):
        low, high = self.samples.range(name)
        return f"{rate(self.samples.median(name))} ({low:,.0f}–{high:,.0f})"

    def _time(self, name):
        low, high = self.samples.range(name)
        return f"{milliseconds(self.samples.median(name))} ({low * 1e3:.2f}–{high * 1e3:.2f})"

    def _session_checks(self):
        median = self.samples.median
        for size in sorted({self.small, self.large}):
            cases = [(f"me {size}", f"constant {size}", "one token", 0.5)]
            for count in sorted({self.small, size}):
                bar = 0.5 if size == self.small else None
                cases.append((f"me {size} of {count}", f"constant tokens {size}", f"{count:,} tokens at random", bar))
            for name, constant, tokens, bar in cases:
                ratio = self.samples.ratio(name, constant)
                cpu, p99 = median(name + " cpu") * 1e6, milliseconds(median(name + " p99"))
                self._add(
                    f"`GET /users/me`, {size:,} users, {tokens}", f"{self._rate(name)}, {cpu:.1f} µs CPU, p99 {p99}",
                    f"constant: {self._rate(constant)}, {median(constant + ' cpu') * 1e6:.1f} µs CPU",
                    f"{ratio:.2f}", f"≥ {bar}" if bar else "", ratio >= bar if bar else None)

    def _passwords(self):
        for size in sorted({self.small, self.large}):
            name = f"log-in {size}"
            cpu, p50 = self.samples.median(name + " cpu"), self.samples.median(name + " p50")
            figure = f"{self._fine_rate(name)}, {milliseconds(cpu)} CPU each, p50 {milliseconds(p50)}"
            self._against_hashes(f"log-ins, 64 clients, {size:,} users", name, f"hash limit {size}", figure, 0.95)
        figure = self._fine_rate("sign-up")
        what = f"sign-ups, 64 clients, {self.large:,} users"
        self._against_hashes(what, "sign-up", "hash limit sign-up", figure, 0.9)

    def _against_hashes(self, what, name, limit, figure, bar):
        seconds, ratio = milliseconds(self.samples.median("hash")), self.samples.ratio(name, limit)
        against = f"{self.hash_threads} ÷ {seconds} for a hash: {self._fine_rate(limit)}"
        self._add(what, figure, against, f"{ratio:.2f}", f"≥ {bar}", ratio >= bar)

    def _fine_rate(self, name):
        low, high = self.samples.range(name)
        return f"{self.samples.median(name):.1f}/s ({low:.1f}–{high:.1f})"

    def _beside_log_ins(self):
        for connections in (64, 8):
            alone, beside = f"read {connections} alone", f"read {connections} beside"
            more = self.samples.median(beside) - self.samples.median(alone)
            self._add(
                f"p99 of session reads on {connections} connections beside 64 clients that log in",
                f"{self._time(beside)} at {rate(self.samples.median(beside + ' rate'))}"
                f" and {self.samples.median(f'log-in beside {connections}'):.1f} log-ins/s",
                f"without: {self._time(alone)}", f"{more * 1e3:+.2f} ms", "≤ +5 ms", more <= 0.005)

    def _sizes(self):
        median, small, large = self.samples.median, self.small, self.large
        cases = [
            ("session check, one token", f"me {small}", f"me {large}", rate, True),
            (f"session check, {small:,} tokens", f"me {small} of {small}", f"me {large} of {small}", rate, True),
            ("session check, tokens of all users", f"me {small} of {small}", f"me {large} of {large}", rate, True),
            ("first check of a session after a start", f"first check {small}", f"first check {large}", milliseconds, False),
            ("log-in", f"log-in {small}", f"log-in {large}", lambda value: f"{value:.1f}/s", True),
        ]
        for what, a, b, text, by_round in cases:
            times = self.samples.ratio(a, b) if by_round else median(b) / median(a)
            self._add(
                f"{what}: {large:,} users against {small:,}", text(median(b)), text(median(a)),
                f"{times:.2f} times", "≤ 1.2 times", times <= 1.2)

    def _starts(self):
        folders = [("empty", "an empty folder", 0.05)]
        folders += [(str(size), f"{size:,} users", 0.1) for size in sorted({self.small, self.large})]
        for name, what, bar in folders:
            for suffix, answer in (("", "`/health`"), (" me", "`/users/me`")):
                seconds = self.samples.median(f"start {name}{suffix}")
                self._add(
                    f"start to the first answer of {answer}, {what}", self._time(f"start {name}{suffix}"), "",
                    milliseconds(seconds), f"≤ {bar * 1e3:.0f} ms", seconds <= bar)

    def _memory(self):
        base = self.samples.median("base memory")
        self._add(
            "resident memory after the first request, empty folder", megabytes(base), "", megabytes(base), "≤ 25 MB",
            base <= 25e6)
        grown = self.samples.median("idle memory")
        self._add("5,000 idle connections", megabytes(grown), "", f"+{megabytes(grown)}", "≤ +5 MB", grown <= 5e6)

    def _log_out(self):
        refused = self.samples.values["refused"]
        self._add(
            "log-out to refusal on another connection", self._time("log-out to refusal"), "",
            f"{sum(refused)} of {len(refused)} at the next request", "all", all(refused))


def machine(root, started, load_before, command):
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
    ])


def output(words, folder, check=True):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=check)
    return (done.stdout or done.stderr).strip()


def replace(path, text):
    """Puts the text between the two markers of the file."""
    with open(path) as file:
        before, rest = file.read().split(BEGIN)
    _, after = rest.split(END)
    with open(path, "w") as file:
        file.write(f"{before}{BEGIN}\n{text}\n{END}{after}")


def rate(value):
    return f"{value:,.0f}/s"


def milliseconds(value):
    return f"{value * 1e3:.2f} ms"


def megabytes(value):
    return f"{value / 1e6:.1f} MB"
