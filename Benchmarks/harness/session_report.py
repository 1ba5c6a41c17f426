"""The table of the sessions."""

from table import Table, megabytes, milliseconds, rate


class SessionReport(Table):
    def __init__(self, bench):
        super().__init__(bench.samples)
        self.small, self.large = bench.folders[0].count, bench.folders[-1].count
        self.hash_threads = bench.hash_threads
        self._session_checks()
        self._passwords()
        self._beside_log_ins()
        if self.large != self.small:
            self._sizes()
        self._starts()
        self._memory()
        self._log_out()

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
                self.add(
                    f"`GET /users/me`, {size:,} users, {tokens}", f"{self.rate(name)}, {cpu:.1f} µs CPU, p99 {p99}",
                    f"constant: {self.rate(constant)}, {median(constant + ' cpu') * 1e6:.1f} µs CPU",
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
        self.add(what, figure, against, f"{ratio:.2f}", f"≥ {bar}", ratio >= bar)

    def _fine_rate(self, name):
        low, high = self.samples.range(name)
        return f"{self.samples.median(name):.1f}/s ({low:.1f}–{high:.1f})"

    def _beside_log_ins(self):
        for connections in (64, 8):
            alone, beside = f"read {connections} alone", f"read {connections} beside"
            more = self.samples.median(beside) - self.samples.median(alone)
            self.add(
                f"p99 of session reads on {connections} connections beside 64 clients that log in",
                f"{self.time(beside)} at {rate(self.samples.median(beside + ' rate'))}"
                f" and {self.samples.median(f'log-in beside {connections}'):.1f} log-ins/s",
                f"without: {self.time(alone)}", f"{more * 1e3:+.2f} ms", "≤ +5 ms", more <= 0.005)

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
            self.add(
                f"{what}: {large:,} users against {small:,}", text(median(b)), text(median(a)),
                f"{times:.2f} times", "≤ 1.2 times", times <= 1.2)

    def _starts(self):
        folders = [("empty", "an empty folder", 0.05)]
        folders += [(str(size), f"{size:,} users", 0.1) for size in sorted({self.small, self.large})]
        for name, what, bar in folders:
            for suffix, answer in (("", "`/health`"), (" me", "`/users/me`")):
                seconds = self.samples.median(f"start {name}{suffix}")
                self.add(
                    f"start to the first answer of {answer}, {what}", self.time(f"start {name}{suffix}"), "",
                    milliseconds(seconds), f"≤ {bar * 1e3:.0f} ms", seconds <= bar)

    def _memory(self):
        base = self.samples.median("base memory")
        self.add(
            "resident memory after the first request, empty folder", megabytes(base), "", megabytes(base), "≤ 25 MB",
            base <= 25e6)
        grown = self.samples.median("idle memory")
        self.add("5,000 idle connections", megabytes(grown), "", f"+{megabytes(grown)}", "≤ +5 MB", grown <= 5e6)

    def _log_out(self):
        refused = self.samples.values["refused"]
        self.add(
            "log-out to refusal on another connection", self.time("log-out to refusal"), "",
            f"{sum(refused)} of {len(refused)} at the next request", "all", all(refused))
