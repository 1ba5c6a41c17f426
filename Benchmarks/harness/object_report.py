"""The table of the objects."""

from object_measure import BATCH
from table import Table, microseconds, milliseconds, rate

# What the embedded database is held to, as ratios to the constant.
BARS = {"get": 0.35, "list": 0.045, "newest": 0.045, "create": 0.115, "update": 0.09}
REQUESTS = {
    "get": "`GET /classes/Item/:id`",
    "get include": "`GET /classes/Item/:id?include=owner`",
    "equality": "`where={\"number\":…}`, indexed, finds 10",
    "list": "`limit=100`",
    "newest": "`order=-createdAt&limit=100`",
    "list include": "`limit=100&include=owner`",
    "create": "`POST /classes/Item`",
    "update": "`PUT /classes/Item/:id`, one field",
    "delete": "`DELETE /classes/Item/:id`",
    "batch": f"`POST /batch`, {BATCH} creates",
}
LISTS = ("list", "newest", "list include")


class ObjectReport(Table):
    def __init__(self, bench):
        super().__init__(bench.samples)
        for seeded in bench.stores:
            store = seeded.store.name
            for name in bench.reads | bench.writes:
                self._requests(store, name)
                if name == "get" and seeded.store.cluster:
                    self._against_pgbench(store)
            self._one_by_one(store)

    def _requests(self, store, name):
        key = f"{store} {name}"
        constant = "constant small list" if name in LISTS else f"constant {name}"
        ratio = self.samples.ratio(key, constant)
        bar = BARS.get(name) if store == "SQLite" else None
        figure = f"{self.rate(key)}, {self._cpu(key)}, p99 {milliseconds(self.samples.median(key + ' p99'))}"
        if name == "batch":
            figure += f"; {rate(self.samples.median(key) * BATCH)} objects"
        against = f"constant: {self.rate(constant)}, {microseconds(self.samples.median(constant + ' cpu'))} CPU"
        if name == "list":
            against += f"; {rate(self.samples.median('constant list'))} with a reply as long"
        self.add(
            f"{store}: {REQUESTS[name]}", figure, against, f"{ratio:.3f}", f"≥ {bar}" if bar else "",
            ratio >= bar if bar else None)

    def _cpu(self, key):
        text = f"{microseconds(self.samples.median(key + ' cpu'))} CPU"
        if key + " cluster cpu" in self.samples.values:
            text += f" and {microseconds(self.samples.median(key + ' cluster cpu'))} in the database"
        return text

    def _against_pgbench(self, store):
        ratio = self.samples.ratio(f"{store} get", "pgbench")
        self.add(
            f"{store}: the same against the database alone", self.rate(f"{store} get"),
            f"`pgbench -M prepared`: {self.rate('pgbench')}", f"{ratio:.2f}", "≥ 0.6", ratio >= 0.6)

    def _one_by_one(self, store):
        seconds = self.samples.median(f"{store} filter")
        self.add(
            f"{store}: `where={{\"note\":…}}`, not indexed, finds 3, one client", self.time(f"{store} filter"), "",
            milliseconds(seconds), "≤ 300 ms", seconds <= 0.3)
        more = self.samples.difference(f"{store} read beside", f"{store} read alone")
        self.add(
            f"{store}: p99 of reads by id on 8 connections beside 2 clients with that query",
            f"{self.time(f'{store} read beside')} at {rate(self.samples.median(f'{store} read beside rate'))}"
            f" and {self.samples.median(f'{store} filter beside'):.1f} queries/s",
            f"without: {self.time(f'{store} read alone')}", f"{more * 1e3:+.2f} ms", "≤ +5 ms", more <= 0.005)
        self.add(
            f"{store}: `count=1&limit=0`, one client", self.time(f"{store} count"), "",
            milliseconds(self.samples.median(f"{store} count")))
