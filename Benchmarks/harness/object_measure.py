"""What is measured of objects, in every store by the same requests."""

import copy
import json
import os
import random
import time

from load import Load
from object_seed import FIRST_NEW, LAST_NEW, NEW_ITEM, NOTE, equal, filled, find, identifier, pgbench_identifier
from samples import Samples
from server import Constant

CONNECTIONS = 64
BATCH = 50
# More than any store does; a run that uses up the objects made for it fails.
DELETES_PER_SECOND = 25_000
FILTERS = COUNTS = 5
ITEMS, ITEM = "/parse/classes/Item", "/parse/classes/Item/<<object>>"
COUNT = find(count=1, limit=0)


class Request:
    """Requests of one kind, as template.lua wants them."""

    def __init__(self, method, path, body=None, numbers=(FIRST_NEW, LAST_NEW), without=None):
        self.method = method
        self.path = path
        self.body = body
        self.numbers = numbers
        self.without = without

    def words(self, seeded, count, seed, first=0):
        words = [f"method={self.method}", f"path={self.path}", f"ids={seeded.id_file}", f"count={count}"]
        words += [f"first={first}", f"owners={seeded.owner_file}", f"seed={seed}"]
        words += [f"low={self.numbers[0]}", f"high={self.numbers[1]}"]
        words += [f"body={self.body}"] if self.body else []
        return words + ([f"without={self.without}"] if self.without else [])

    def ask(self, client, item):
        """One of them; gives the bytes of the reply."""
        owner = identifier(0)
        body = json.loads(filled(self.body, owner)) if self.body else None
        status, reply = client.ask(self.method, filled(self.path, owner, item, self.numbers[0]), body=body)
        if status not in (200, 201) or (self.without and self.without.encode() in reply):
            raise RuntimeError(f"{self.method} {self.path} answers {status} {reply[:500]!r}")
        return reply


def _reads(seeded):
    return {
        "get": Request("GET", ITEM),
        "get include": Request("GET", ITEM + "?include=owner"),
        "equality": Request("GET", find('{"number":<NUM6>}'), numbers=seeded.numbers),
        "list": Request("GET", find(limit=100)),
        "newest": Request("GET", find(order="-createdAt", limit=100)),
        "list include": Request("GET", find(limit=100, include="owner")),
    }


def _writes():
    part = '{"method":"POST","path":"%s","body":%s}' % (ITEMS, NEW_ITEM)
    return {
        "create": Request("POST", ITEMS, NEW_ITEM),
        "update": Request("PUT", ITEM, '{"name":"item <NUM6>"}'),
        "delete": Request("DELETE", ITEM.replace("<<object>>", "<<next..>>")),
        # A batch is answered with 200 whatever became of its parts.
        "batch": Request("POST", "/parse/batch", '{"requests":[%s]}' % ",".join([part] * BATCH), without='"error"'),
    }


class ObjectBench:
    """One run over stores that are filled alike."""

    def __init__(self, tools, scratch, stores, kept, seconds, random_seed):
        """`kept` is how many of the seeded objects are there to the end; the others are deleted one by one."""
        self.tools = tools
        self.scratch = scratch
        self.stores = stores
        self.kept = kept
        self.seconds = seconds
        self.source = random.Random(random_seed)
        self.samples = Samples()
        self.reads, self.writes = _reads(stores[0]), _writes()
        self.filter = Request(
            "GET", find(equal("note", NOTE.format("<NUM6>"))), numbers=stores[0].notes)
        # Of each store: where the deletes go on, and how many objects were made and deleted at least and at most.
        self.next_delete = {seeded.store.name: kept for seeded in stores}
        self.made = {seeded.store.name: [0, 0] for seeded in stores}
        self.pairs, self.constants = [], {}

    def run(self, rounds, progress):
        """Everything in turns, so that a slow minute of the machine hits all rows alike.

        All that reads comes before anything that writes: then each query finds the same objects in each round.
        """
        try:
            for seeded in self.stores:
                self.pairs.append((seeded, seeded.store.start(seeded.keys)))
            self._start_constants()
            for number in range(rounds):
                progress(f"reads, round {number + 1} of {rounds}")
                self._read_round()
            for number in range(rounds):
                progress(f"writes, round {number + 1} of {rounds}")
                self._write_round()
            for seeded, server in self.pairs:
                self._check_count(seeded, server)
        finally:
            for constant in self.constants.values():
                constant.stop()
            for _, server in self.pairs:
                server.stop()

    def _start_constants(self):
        """One for each kind of request, with a reply as long as the first server's."""
        seeded, server = self.pairs[0]
        client = server.client()
        item = identifier(0)
        for name, request in (self.reads | self.writes).items():
            reply = request.ask(client, item)
            # This one is deleted in the end, not one of those that are read.
            if name == "create":
                item = json.loads(reply)["objectId"]
            self._count_made(seeded, name, 1)
            if name in ("newest", "list include"):
                continue
            # It has no shorter one.
            self.constants[name] = Constant(os.path.join(self.tools, "constant"), max(14, len(reply)))
        client.close()

    # Reads

    def _read_round(self):
        for name, request in self.reads.items():
            if name in self.constants:
                self._loaded(f"constant {name}", self.constants[name], self.stores[0], request)
            if name == "list":
                self._loaded("constant small list", self.constants["get"], self.stores[0], request)
            for seeded, server in self.pairs:
                self._loaded(f"{seeded.store.name} {name}", server, seeded, request)
                if name == "get" and seeded.store.cluster:
                    self._pgbench(seeded)
        for seeded, server in self.pairs:
            self._one_by_one(seeded, server)
            self._beside_filters(seeded, server)

    def _loaded(self, key, process, seeded, request, count=None, first=0):
        cluster = None if isinstance(process, Constant) else seeded.store.cluster
        before, cluster_before = process.cpu_seconds(), cluster.cpu_seconds() if cluster else 0
        result = self._load(process, seeded, request, self.seconds, CONNECTIONS, count, first).result()
        self.samples.add(key, result.rate)
        self.samples.add(key + " p99", result.p99)
        self.samples.add(key + " cpu", (process.cpu_seconds() - before) / result.requests)
        if cluster:
            self.samples.add(key + " cluster cpu", (cluster.cpu_seconds() - cluster_before) / result.requests)
        return result.requests

    def _load(self, process, seeded, request, seconds, connections, count=None, first=0):
        words = request.words(seeded, count or seeded.count, self.source.randrange(1 << 31), first)
        return Load(process.port, "/", seeded.keys, seconds, connections, "template.lua", words)

    def _pgbench(self, seeded):
        """The database alone with the same reads from as many clients."""
        script = os.path.join(self.scratch, "point-read.sql")
        with open(script, "w") as file:
            file.write(pgbench_identifier(seeded.count) + seeded.store.point_read("Item") + "\n")
        self.samples.add("pgbench", seeded.store.cluster.pgbench(script, CONNECTIONS, self.seconds))

    def _one_by_one(self, seeded, server):
        """Queries that take long, from one client that waits for each."""
        # What the load before did not wait for is still being answered.
        time.sleep(0.5)
        client = server.client()
        for _ in range(FILTERS):
            note = NOTE.format(self.source.randint(*self.filter.numbers))
            self._timed(f"{seeded.store.name} filter", client, find(equal("note", note)))
        for _ in range(COUNTS):
            self._timed(f"{seeded.store.name} count", client, COUNT)
        client.close()

    def _timed(self, key, client, path):
        begun = time.perf_counter()
        client.expect(200, "GET", path)
        self.samples.add(key, time.perf_counter() - begun)

    def _beside_filters(self, seeded, server):
        name, request = seeded.store.name, self.reads["get"]
        alone = self._load(server, seeded, request, self.seconds, 8).result()
        self.samples.add(f"{name} read alone", alone.p99)
        filters = self._load(server, seeded, self.filter, self.seconds + 2, 2)
        # From here on there is always one under way.
        time.sleep(1)
        beside = self._load(server, seeded, request, self.seconds, 8).result()
        self.samples.add(f"{name} read beside", beside.p99)
        self.samples.add(f"{name} read beside rate", beside.rate)
        self.samples.add(f"{name} filter beside", filters.result().rate)

    # Writes

    def _write_round(self):
        for name, request in self.writes.items():
            # The constant can be asked for the same object twice, and answers more deletes than there are objects.
            same = copy.copy(request)
            same.path = request.path.replace("<<next..>>", "<<object>>")
            self._loaded(f"constant {name}", self.constants[name], self.stores[0], same, self.kept)
            for seeded, server in self.pairs:
                first = self.next_delete[seeded.store.name]
                done = self._loaded(f"{seeded.store.name} {name}", server, seeded, request, self.kept, first)
                # wrk asks for one request more than it sends, and does not wait for the last of each connection.
                if name == "delete":
                    self.next_delete[seeded.store.name] += done + CONNECTIONS + 1
                self._count_made(seeded, name, done, CONNECTIONS + 1)

    def _count_made(self, seeded, name, done, uncertain=0):
        """What the requests did to the number of objects."""
        made = self.made[seeded.store.name]
        if name == "delete":
            made[0] -= done + uncertain
            made[1] -= done
        elif name in ("create", "batch"):
            each = BATCH if name == "batch" else 1
            made[0] += done * each
            made[1] += (done + uncertain) * each

    def _check_count(self, seeded, server):
        """Whether the writes that were answered are there, but for those that wrk did not wait for."""
        client = server.client()
        count = client.expect(200, "GET", COUNT)["count"]
        client.close()
        low, high = (seeded.count + 1 + made for made in self.made[seeded.store.name])
        if not low <= count <= high:
            raise RuntimeError(f"{seeded.store.name} holds {count} objects after the writes, not {low} to {high}")
