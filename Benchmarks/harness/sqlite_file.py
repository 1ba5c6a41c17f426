"""Writes many rows into a database file of a server that does not run."""

import contextlib
import sqlite3


@contextlib.contextmanager
def bulk(database, tables):
    """A connection in one transaction; the indexes of the tables are made again at its end."""
    connection = sqlite3.connect(database, isolation_level=None)
    # An interrupted seed is thrown away, so nothing here has to survive a crash.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -1000000")
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        f" AND tbl_name IN ({', '.join('?' * len(tables))})", tables).fetchall()
    connection.execute("BEGIN")
    for name, _ in indexes:
        connection.execute(f'DROP INDEX "{name}"')
    yield connection
    for _, sql in indexes:
        connection.execute(sql)
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


def pattern(connection, table):
    """The only row of the table, by the names of the columns."""
    cursor = connection.execute(f'SELECT * FROM "{table}"')
    (row,) = cursor.fetchall()
    return dict(zip((column[0] for column in cursor.description), row))


def insert(connection, table, columns, rows):
    names = ", ".join(f'"{column}"' for column in columns)
    places = ", ".join("?" * len(columns))
    connection.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({places})', rows)
