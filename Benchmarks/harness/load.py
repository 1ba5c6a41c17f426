"""Runs the load generator, wrk, and reads what it measured."""

import json
import os
import subprocess

from client import headers

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "load")


class Result:
    """One run: requests and seconds, and the latencies in seconds."""

    def __init__(self, values):
        self.requests = values["requests"]
        self.rate = values["requests"] / values["seconds"]
        self.p50 = values["p50"]
        self.p99 = values["p99"]


class Load:
    """A run of wrk under way: one thread, so that a core is left to the server."""

    def __init__(self, port, path, keys, seconds, connections=64, script="report.lua", words=(), token=None):
        self.words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s"]
        self.words += ["-s", os.path.join(SCRIPTS, script)]
        for name, value in headers(keys, token).items():
            self.words += ["-H", f"{name}: {value}"]
        self.words += [f"http://127.0.0.1:{port}{path}", "--"]
        self.words += [str(word) for word in words]
        self.child = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def result(self):
        """Waits for the end. A single failed request makes the whole run worthless."""
        output, _ = self.child.communicate()
        lines = [line[7:] for line in output.splitlines() if line.startswith("RESULT ")]
        if self.child.returncode != 0 or not lines:
            raise RuntimeError(f"wrk failed:\n{output}")
        values = json.loads(lines[0])
        if values["failures"] > 0 or values["requests"] == 0:
            raise RuntimeError(f"{values['failures']} of {values['requests']} requests failed:\n{output}")
        return Result(values)
