"""A PostgreSQL cluster of its own that is thrown away: initdb's settings, on loopback, on a free port."""

import contextlib
import glob
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import time

from server import Process, free_port

ROLE = "bench"
# The server refuses to run as root; one of these runs it then.
OTHER_USERS = ("postgres", "nobody")


class Unavailable(Exception):
    """Why there is nothing to measure."""


class Cluster(Process):
    """`initdb` and `postgres` in a folder that does not exist yet.

    Only the folder, the port and the names are chosen here: what is committed is on the disk, as by default.
    """

    def __init__(self, folder):
        self.programs = programs()
        self.folder = folder
        self.port = free_port()
        self.account = account()
        self.password = secrets.token_hex(16)
        self._make()
        words = [self._program("postgres"), "-D", folder, "-h", "127.0.0.1", "-p", str(self.port), "-k", folder]
        self.log = folder + ".log"
        with open(self.log, "a") as log:
            super().__init__(subprocess.Popen(words, stdout=log, stderr=log, cwd="/", **self.account))
        self._wait()
        self.version = self.sql("SHOW server_version").split()[0]

    @property
    def url(self):
        return f"postgres://{ROLE}:{self.password}@127.0.0.1:{self.port}/postgres"

    def cpu_seconds(self):
        """Of the server and of all its processes, those that have ended too."""
        ticks = 0
        for path in glob.glob("/proc/[0-9]*/stat"):
            # A process that has just ended is in the sum of its parent the next time.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(path) as file:
                number, rest = file.read().split(" ", 1)
                fields = [int(field) for field in rest.rsplit(")", 1)[1].split()[1:15]]
                if int(number) == self.child.pid:
                    ticks += sum(fields[10:14])
                elif fields[0] == self.child.pid:
                    ticks += sum(fields[10:12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def sql(self, text):
        """What the statement answers, a row a line, the values separated by tabs."""
        done = subprocess.run(
            self._psql() + ["-c", text], env=self._environment(), check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{text[:200]}: {done.stderr}")
        return done.stdout.rstrip("\n")

    def copy(self, target, lines):
        """Sends lines in COPY's text format into a table."""
        words = self._psql() + ["-c", f"COPY {target} FROM STDIN"]
        with subprocess.Popen(words, env=self._environment(), stdin=subprocess.PIPE, text=True) as child:
            child.stdin.writelines(lines)
        if child.returncode != 0:
            raise RuntimeError(f"COPY {target} ended with {child.returncode}")

    def pgbench(self, script, clients, seconds):
        """Transactions a second of a script, prepared statements, on one thread as the other loads have."""
        words = [self._program("pgbench"), "-n", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(seconds)]
        words += ["-f", script, *self._target()]
        done = subprocess.run(words, env=self._environment(), check=False, capture_output=True, text=True)
        rate = re.search(r"^tps = ([\d.]+)", done.stdout, re.M)
        failed = re.search(r"^number of failed transactions: (\d+)", done.stdout, re.M)
        if done.returncode != 0 or not rate or (failed and int(failed.group(1)) > 0):
            raise RuntimeError(f"pgbench failed:\n{done.stdout}{done.stderr}")
        return float(rate.group(1))

    def stop(self):
        # Without waiting for clients; SIGTERM waits.
        self.child.send_signal(signal.SIGINT)
        self.child.wait(timeout=120)
        super().stop()

    def _make(self):
        os.mkdir(self.folder, 0o700)
        password_file = self.folder + ".password"
        with open(password_file, "w") as file:
            file.write(self.password)
        if self.account:
            for path in (self.folder, password_file):
                shutil.chown(path, self.account["user"], self.account["group"])
        # Root may work in a folder that others cannot even pass.
        if subprocess.run(["test", "-w", self.folder], check=False, **self.account).returncode != 0:
            raise Unavailable(f"The user that would run PostgreSQL cannot reach {self.folder}.")
        words = [self._program("initdb"), "-D", self.folder, "-U", ROLE, "--encoding=UTF8", "--locale=C"]
        words += ["--auth=scram-sha-256", f"--pwfile={password_file}"]
        done = subprocess.run(words, check=False, capture_output=True, text=True, cwd="/", **self.account)
        if done.returncode != 0:
            raise RuntimeError(f"initdb failed: {done.stdout}{done.stderr}")

    def _wait(self):
        until = time.monotonic() + 60
        while True:
            try:
                self.sql("SELECT 1")
                return
            except RuntimeError:
                if self.child.poll() is not None or time.monotonic() > until:
                    with open(self.log) as file:
                        raise RuntimeError(f"PostgreSQL does not start: {file.read()[-2000:]}") from None
                time.sleep(0.1)

    def _psql(self):
        return [self._program("psql"), "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", *self._target()]

    def _target(self):
        # Without "-d": psql knows it as the database, pgbench as a wish to debug.
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", ROLE, "postgres"]

    def _environment(self):
        return dict(os.environ, PGPASSWORD=self.password)

    def _program(self, name):
        return os.path.join(self.programs, name)


def programs():
    """The folder of the newest programs that are installed."""
    folders = glob.glob("/usr/lib/postgresql/[0-9]*/bin")
    folders.sort(key=lambda path: int(path.split("/")[4]), reverse=True)
    for folder in folders:
        if int(folder.split("/")[4]) >= 15 and os.access(os.path.join(folder, "pgbench"), os.X_OK):
            return folder
    raise Unavailable("PostgreSQL 15 or later is not installed.")


def account():
    """Who runs the server, in the words of subprocess: nobody else unless this is root."""
    if os.geteuid() != 0:
        return {}
    for name in OTHER_USERS:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise Unavailable("Root cannot run PostgreSQL, and there is no user postgres or nobody.")
