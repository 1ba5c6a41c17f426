"""Starts and stops the processes that are measured, and reads what the kernel knows of them."""

import atexit
import os
import re
import signal
import socket
import subprocess
import time

from client import Client


def only_database(folder):
    """The database of the one app of a data folder, whatever its file is called."""
    apps = os.path.join(folder, "apps")
    names = [name for name in os.listdir(apps) if name.endswith(".db")]
    if len(names) != 1:
        raise SystemExit(f"{apps} holds {len(names)} databases, not one")
    return os.path.join(apps, names[0])


class Process:
    """A process that is measured from outside."""

    def __init__(self, child):
        self.child = child
        # Whatever goes wrong, nothing keeps running.
        atexit.register(child.kill)

    def cpu_seconds(self):
        """User and system time so far; the clock ticks every 10 ms."""
        with open(f"/proc/{self.child.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self):
        with open(f"/proc/{self.child.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1)) * 1024

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(timeout=15)
        atexit.unregister(self.child.kill)


class Constant(Process):
    """The C program that answers the same bytes to everything."""

    def __init__(self, binary, body_bytes):
        super().__init__(subprocess.Popen([binary, str(body_bytes)], stdout=subprocess.PIPE))
        self.port = int(self.child.stdout.readline())

    def stop(self):
        super().stop()
        self.child.stdout.close()


class Server(Process):
    """Martlet on a data folder, and on a PostgreSQL database if there is a URL of one.

    `keys` is None where there is no app yet; the server then makes one and prints its keys.
    """

    def __init__(self, binary, folder, keys=None, database=None):
        self.port = free_port()
        self.folder = folder
        self.keys = keys
        self.master_key = None
        self.started = time.perf_counter()
        command = [binary, "serve", "--data", folder, "--port", str(self.port), "--log-level", "warning"]
        if database:
            command += ["--database", database]
        # A load that ends in the middle of requests fills the log; it is worth reading only after a failure.
        self.log = folder.rstrip("/") + ".log"
        with open(self.log, "a") as log:
            super().__init__(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True))
        self.seconds_to_health = self._wait_for_health()
        printed = []
        while not (printed and printed[-1].startswith("Martlet is ready")):
            line = self.child.stdout.readline()
            if not line:
                raise RuntimeError(f"the server ended: {self._last_words()}")
            printed.append(line)
        if keys is None:
            text = "".join(printed)
            *self.keys, self.master_key = (
                re.search(rf"^  {name} +(\S+)$", text, re.M).group(1)
                for name in ("Application id", "Client key", "Master key"))

    def client(self):
        return Client(self.port, self.keys)

    def master(self):
        """A client for which no permission counts. The key is known to the server that made the app alone."""
        return Client(self.port, self.keys, self.master_key)

    def database(self):
        return only_database(self.folder)

    def stop(self):
        super().stop()
        self.child.stdout.close()
        if self.child.returncode != 0:
            raise RuntimeError(f"the server ended with {self.child.returncode}: {self._last_words()}")

    def _last_words(self):
        with open(self.log) as file:
            return file.read()[-2000:]

    def _wait_for_health(self):
        while True:
            try:
                client = Client(self.port, ("-", "-"))
                break
            except ConnectionRefusedError:
                if self.child.poll() is not None or time.perf_counter() - self.started > 60:
                    raise RuntimeError(f"the server does not listen: {self._last_words()}") from None
                time.sleep(0.0002)
        status, _ = client.ask("GET", "/health")
        seconds = time.perf_counter() - self.started
        client.close()
        if status != 200:
            raise RuntimeError(f"/health answers {status}")
        return seconds


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
