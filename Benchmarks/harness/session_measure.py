"""What is measured of users and sessions."""

import os
import random
import shutil
import subprocess
import time

from client import Client
from load import Load
from samples import Samples
from server import Constant, Server
from session_seed import PASSWORD

ME = "/parse/users/me"
LOG_IN = "/parse/login"
TOKEN_WIDTH = 35


class SessionBench:
    """One run over data folders of several sizes, smallest first."""

    def __init__(self, binary, tools, scratch, folders, seconds, random_seed):
        self.binary = binary
        self.tools = tools
        self.scratch = scratch
        self.folders = folders
        self.seconds = seconds
        # As many as the server starts: it leaves one processor free.
        self.hash_threads = max(1, os.sysconf("SC_NPROCESSORS_ONLN") - 1)
        self.source = random.Random(random_seed)
        self.samples = Samples()

    # Throughput and latency

    def throughput(self, rounds, progress):
        """Everything in turns, so that a slow minute of the machine hits all rows alike."""
        servers = [Server(self.binary, folder.folder, folder.keys) for folder in self.folders]
        token = self.folders[0].tokens(1)[0]
        client = servers[0].client()
        _, body = client.ask("GET", ME, token)
        client.close()
        constant = Constant(os.path.join(self.tools, "constant"), len(body))
        try:
            for number in range(rounds):
                progress(f"round {number + 1} of {rounds}")
                for folder, server in zip(self.folders, servers):
                    self._session_checks(folder, server, constant)
                    self._log_ins(folder, server)
                self._beside_log_ins(self.folders[-1], servers[-1])
                self._sign_ups(self.folders[-1], servers[-1], number)
        finally:
            constant.stop()
            for server in servers:
                server.stop()

    def _session_checks(self, folder, server, constant):
        token = folder.tokens(1)[0]
        for name, process in (("constant", constant), ("me", server)):
            self._loaded(f"{name} {folder.count}", process, folder, token=token)
        active = self.folders[0].count
        spreads = {active, folder.count}
        for count in sorted(spreads):
            words = [folder.token_file, count, self.source.randrange(1 << 31)]
            if count == folder.count:
                self._loaded(f"constant tokens {folder.count}", constant, folder, script="tokens.lua", words=words)
            self._loaded(f"me {folder.count} of {count}", server, folder, script="tokens.lua", words=words)

    def _loaded(self, key, process, folder, **options):
        before = process.cpu_seconds()
        result = Load(process.port, ME, folder.keys, self.seconds, **options).result()
        self.samples.add(key, result.rate)
        self.samples.add(key + " p99", result.p99)
        self.samples.add(key + " cpu", (process.cpu_seconds() - before) / result.requests)

    def _log_ins(self, folder, server):
        self.samples.add(f"hash limit {folder.count}", self._hash_limit(folder))
        before = server.cpu_seconds()
        result = self._log_in_load(folder, server, self.seconds + 2).result()
        self.samples.add(f"log-in {folder.count}", result.rate)
        self.samples.add(f"log-in {folder.count} cpu", (server.cpu_seconds() - before) / result.requests)
        self.samples.add(f"log-in {folder.count} p50", result.p50)
        self.samples.add(f"log-in {folder.count} p99", result.p99)

    def _log_in_load(self, folder, server, seconds):
        words = [folder.count, PASSWORD, self.source.randrange(1 << 31)]
        return Load(server.port, LOG_IN, folder.keys, seconds, script="log-in.lua", words=words)

    def _hash_limit(self, folder):
        """How many passwords a second the threads for hashes could check if they did nothing else."""
        tool = os.path.join(self.tools, "hash_time")
        output = subprocess.run([tool, folder.password_hash, PASSWORD, "60"], check=True, capture_output=True)
        seconds = float(output.stdout)
        self.samples.add("hash", seconds)
        return self.hash_threads / seconds

    def _beside_log_ins(self, folder, server):
        token = folder.tokens(1)[0]
        for connections in (8, 64):
            options = {"connections": connections, "token": token}
            alone = Load(server.port, ME, folder.keys, self.seconds, **options).result()
            self.samples.add(f"read {connections} alone", alone.p99)
            log_ins = self._log_in_load(folder, server, self.seconds + 2)
            # The queue of the password hashes is full from here on.
            time.sleep(1)
            beside = Load(server.port, ME, folder.keys, self.seconds, **options).result()
            self.samples.add(f"read {connections} beside", beside.p99)
            self.samples.add(f"read {connections} beside rate", beside.rate)
            self.samples.add(f"log-in beside {connections}", log_ins.result().rate)

    def _sign_ups(self, folder, server, number):
        self.samples.add("hash limit sign-up", self._hash_limit(folder))
        words = [f"new{number}x"]
        result = Load(
            server.port, "/parse/users", folder.keys, self.seconds + 2, script="sign-up.lua", words=words).result()
        self.samples.add("sign-up", result.rate)

    # Start and memory

    def starts(self, count):
        """On an empty folder each time, and on each of the seeded folders."""
        for _ in range(count):
            folder = os.path.join(self.scratch, "empty")
            server = Server(self.binary, folder)
            # No session exists there: the reply is a refusal.
            self._first_answer(server, "empty", "r:" + "0" * 32, 400)
            self.samples.add("base memory", server.resident_bytes())
            server.stop()
            shutil.rmtree(folder)
            for seeded in self.folders:
                token = self._random_tokens(seeded, 1)[0]
                server = Server(self.binary, seeded.folder, seeded.keys)
                self._first_answer(server, str(seeded.count), token, 200)
                server.stop()

    def _first_answer(self, server, name, token, expected):
        client = server.client()
        status, body = client.ask("GET", ME, token)
        self.samples.add(f"start {name} me", time.perf_counter() - server.started)
        self.samples.add(f"start {name}", server.seconds_to_health)
        client.close()
        if status != expected:
            raise RuntimeError(f"the first request answers {status} {body!r}")

    def first_checks(self, count):
        """The first use of a session after a start, one after another on one connection: no cache helps."""
        for seeded in self.folders:
            server = Server(self.binary, seeded.folder, seeded.keys)
            client = server.client()
            tokens = self._random_tokens(seeded, count)
            for token in tokens:
                begun = time.perf_counter()
                status, _ = client.ask("GET", ME, token)
                self.samples.add(f"first check {seeded.count}", time.perf_counter() - begun)
                if status != 200:
                    raise RuntimeError(f"a session check answers {status}")
            client.close()
            server.stop()

    def idle_connections(self, count):
        """What connections cost that made one request and stay open."""
        seeded = self.folders[0]
        server = Server(self.binary, seeded.folder, seeded.keys)
        token = seeded.tokens(1)[0]
        first = server.client()
        first.ask("GET", ME, token)
        before = server.resident_bytes()
        clients = []
        for _ in range(count):
            client = Client(server.port, seeded.keys)
            status, _ = client.ask("GET", ME, token)
            if status != 200:
                raise RuntimeError(f"connection {len(clients)} is answered {status}")
            clients.append(client)
        self.samples.add("idle memory", server.resident_bytes() - before)
        # They count only if they are still served.
        for client in clients:
            client.ask("GET", ME, token)
            client.close()
        first.close()
        server.stop()

    def log_outs(self, count):
        """After a log-out on one connection, the next request on another. Ends the sessions it uses."""
        seeded = self.folders[0]
        server = Server(self.binary, seeded.folder, seeded.keys)
        reader, writer = server.client(), server.client()
        for token in seeded.tokens(count):
            status, _ = reader.ask("GET", ME, token)
            if status != 200:
                raise RuntimeError(f"a session check answers {status}")
            writer.ask("POST", "/parse/logout", token, {})
            begun = time.perf_counter()
            status, _ = reader.ask("GET", ME, token)
            self.samples.add("log-out to refusal", time.perf_counter() - begun)
            self.samples.add("refused", int(status == 400))
        reader.close()
        writer.close()
        server.stop()

    def _random_tokens(self, seeded, count):
        tokens = []
        with open(seeded.token_file) as file:
            for number in self.source.sample(range(seeded.count), count):
                file.seek(number * TOKEN_WIDTH)
                tokens.append(file.read(TOKEN_WIDTH - 1))
        return tokens
