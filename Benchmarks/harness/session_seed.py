"""Fills a data folder with users, each with one living session, by writing into the database file.

The server makes the tables and one user by a sign-up; its two rows are the pattern that all others follow,
so this knows no more of the tables than the names of the columns that must differ.
"""

import hashlib
import os
import random
import sqlite3
import string
import subprocess
import time

import sqlite_file
from server import Server, only_database

PASSWORD = "correct horse battery staple"
ALPHABET = string.ascii_letters + string.digits


class Seeded:
    """A data folder with users `user0`, `user1`, …, and the file of their tokens in the same order."""

    def __init__(self, folder, keys, count, password_hash, seconds):
        self.folder = folder
        self.keys = keys
        self.count = count
        self.password_hash = password_hash
        self.seconds = seconds
        self.token_file = folder + ".tokens"

    def tokens(self, count):
        with open(self.token_file) as file:
            return [next(file).strip() for _ in range(count)]


def seed(binary, folder, count, random_seed):
    started = time.perf_counter()
    server = Server(binary, folder)
    client = server.client()
    status, body = client.ask("POST", "/parse/users", body={"username": "pattern", "password": PASSWORD})
    if status != 201:
        raise RuntimeError(f"the sign-up answers {status} {body!r}")
    database, keys = server.database(), server.keys
    client.close()
    server.stop()

    password_hash = _fill(database, folder + ".tokens", count, random.Random(random_seed))
    seeded = Seeded(folder, keys, count, password_hash, time.perf_counter() - started)
    _verify(binary, seeded)
    return seeded


def _fill(database, token_file, count, source):
    with sqlite_file.bulk(database, ("_User", "_Session")) as connection:
        user = sqlite_file.pattern(connection, "_User")
        session = sqlite_file.pattern(connection, "_Session")
        ids = _ids(source, 2 * count)
        user_rows = (_user(user, number, ids[number]) for number in range(count))
        sqlite_file.insert(connection, "_User", user, user_rows)
        with open(token_file, "w") as file:
            session_rows = _sessions(session, user["objectId"], ids, count, source, file)
            sqlite_file.insert(connection, "_Session", session, session_rows)
    return user["_hashed_password"]


def _ids(source, count):
    ids = set()
    while len(ids) < count:
        ids.update("".join(source.choices(ALPHABET, k=10)) for _ in range(count - len(ids)))
    # The order of a set of texts differs from run to run.
    ids = sorted(ids)
    source.shuffle(ids)
    return ids


def _user(pattern, number, identifier):
    row = {
        column: value.replace(pattern["objectId"], identifier) if isinstance(value, str) else value
        for column, value in pattern.items()
    }
    row["username"] = row["_username_key"] = f"user{number}"
    return tuple(row.values())


def _sessions(pattern, pattern_user, ids, count, source, token_file):
    for number in range(count):
        token = f"r:{source.getrandbits(128):032x}"
        token_file.write(token + "\n")
        row = dict(pattern)
        row["objectId"] = ids[count + number]
        row["_token_hash"] = hashlib.sha256(token.encode()).digest()
        row["_token_tail"] = token[-4:]
        row["user"] = pattern["user"].replace(pattern_user, ids[number])
        yield tuple(row.values())


def _verify(binary, seeded):
    """Logs one of the users in and uses one of the tokens, and looks whether the database is sound."""
    last = seeded.count - 1
    server = Server(binary, seeded.folder, seeded.keys)
    client = server.client()
    body = {"username": f"user{last}", "password": PASSWORD}
    status, reply = client.ask("POST", "/parse/login", body=body)
    if status != 200:
        raise RuntimeError(f"a seeded user cannot log in: {status} {reply!r}")
    tail = subprocess.run(["tail", "-n", "1", seeded.token_file], check=True, capture_output=True, text=True)
    status, reply = client.ask("GET", "/parse/users/me", tail.stdout.strip())
    if status != 200 or f'"user{last}"'.encode() not in reply:
        raise RuntimeError(f"a seeded session does not work: {status} {reply!r}")
    client.close()
    server.stop()
    rows = sqlite3.connect(only_database(seeded.folder))
    found = rows.execute("SELECT (SELECT count(*) FROM _User), (SELECT count(*) FROM _Session)").fetchone()
    rows.close()
    # The pattern and its session, and the session of the log-in above.
    if found != (seeded.count + 1, seeded.count + 2):
        raise RuntimeError(f"the seeded folder holds {found} users and sessions")
