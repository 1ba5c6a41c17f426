"""A small HTTP client that adds as little time of its own as Python allows."""

import json
import socket


class Client:
    """One keep-alive connection to the server on loopback."""

    def __init__(self, port, keys, master_key=None):
        """`keys` are the application id and the client key."""
        self.headers = headers(keys)
        if master_key:
            self.headers["X-Parse-Master-Key"] = master_key
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def send(self, method, path, token=None, body=None):
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if token:
            lines.append(f"X-Parse-Session-Token: {token}")
        data = b""
        if body is not None:
            data = json.dumps(body).encode()
            lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        self.socket.sendall("\r\n".join(lines + ["", ""]).encode() + data)

    def receive(self):
        """The status and the bytes of the next reply."""
        while b"\r\n\r\n" not in self.rest:
            self._read()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line[:15].lower() == b"content-length:")
        while len(self.rest) < length:
            self._read()
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(lines[0].split()[1]), body

    def ask(self, method, path, token=None, body=None):
        self.send(method, path, token, body)
        return self.receive()

    def expect(self, expected, method, path, body=None):
        """The JSON of the reply, which has the expected status."""
        status, reply = self.ask(method, path, body=body)
        if status != expected:
            raise RuntimeError(f"{method} {path} answers {status} {reply[:500]!r}")
        return json.loads(reply)

    def close(self):
        self.socket.close()

    def _read(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.rest += data


def headers(keys, token=None):
    """The headers that every request carries."""
    result = {"X-Parse-Application-Id": keys[0], "X-Parse-Client-Key": keys[1]}
    if token:
        result["X-Parse-Session-Token"] = token
    return result
