"""Where the objects are: each store starts servers on itself, and takes many rows past the server."""

import subprocess

import sqlite_file
from postgres import Cluster, Unavailable
from server import Server, only_database


class SQLiteStore:
    """The embedded database of a data folder."""

    name = "SQLite"

    def __init__(self, binary, folder):
        self.binary = binary
        self.folder = folder
        self.cluster = None

    def start(self, keys=None):
        return Server(self.binary, self.folder, keys)

    def fill(self, class_name, _object_id, make):
        """Adds the rows that `make` makes out of the only row of the class; no server runs meanwhile."""
        with sqlite_file.bulk(only_database(self.folder), (class_name,)) as connection:
            pattern = sqlite_file.pattern(connection, class_name)
            sqlite_file.insert(connection, class_name, pattern, make(pattern))

    def stop(self):
        """There is nothing but the folder."""


class PostgresStore:
    """A cluster that is thrown away with the folder; the server reaches it over loopback."""

    name = "PostgreSQL"

    def __init__(self, binary, folder):
        if not knows_database_flag(binary):
            raise Unavailable("This server knows no flag --database.")
        self.binary = binary
        self.folder = folder
        self.cluster = Cluster(folder + ".cluster")
        self.tables = {}

    def start(self, keys=None):
        return Server(self.binary, self.folder, keys, self.cluster.url)

    def fill(self, class_name, object_id, make):
        table = self.tables[class_name] = self._table_of(object_id)
        columns = self._columns(table)
        names = ", ".join(f'"{column}"' for column in columns)
        (row,) = self.cluster.sql(f"COPY (SELECT {names} FROM {table}) TO STDOUT").splitlines()
        # What is NULL stays so, and what is escaped is written as it was read.
        pattern = dict(zip(columns, row.split("\t")))
        indexes = self._indexes(table)
        for name, _ in indexes:
            self.cluster.sql(f"DROP INDEX {name}")
        self.cluster.copy(f"{table} ({names})", ("\t".join(values) + "\n" for values in make(pattern)))
        for _, definition in indexes:
            self.cluster.sql(definition)
        # Or the server does it by itself in the middle of a measurement.
        self.cluster.sql(f"VACUUM (ANALYZE) {table}")
        self.cluster.sql("CHECKPOINT")

    def point_read(self, class_name):
        """The statement that reads a row by the id `:id`, as pgbench wants it."""
        table = self.tables[class_name]
        names = ", ".join(f'"{column}"' for column in self._columns(table))
        return f'SELECT {names} FROM {table} WHERE "objectId" = :id;'

    def stop(self):
        self.cluster.stop()

    def _table_of(self, object_id):
        """The table that holds the object, whatever it and its schema are called."""
        tables = self.cluster.sql(
            "SELECT format('%I.%I', table_schema, table_name) FROM information_schema.columns"
            " WHERE column_name = 'objectId'").splitlines()
        found = [
            table for table in tables
            if self.cluster.sql(f"SELECT 1 FROM {table} WHERE \"objectId\" = '{object_id}'") == "1"
        ]
        if len(found) != 1:
            raise RuntimeError(f"{len(found)} of {len(tables)} tables hold the object {object_id}, not one")
        return found[0]

    def _columns(self, table):
        """Those that the server fills, not the database itself."""
        return self.cluster.sql(
            f"SELECT attname FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0"
            " AND NOT attisdropped AND attgenerated = '' AND attidentity = '' AND NOT EXISTS (SELECT 1"
            " FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum"
            " AND pg_get_expr(adbin, adrelid) LIKE 'nextval%') ORDER BY attnum").splitlines()

    def _indexes(self, table):
        """Name and statement of each index that no constraint needs."""
        rows = self.cluster.sql(
            f"SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = '{table}'::regclass"
            " AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)").splitlines()
        return [row.split("\t") for row in rows]


def knows_database_flag(binary):
    """Asks with the flag alone, which starts nothing."""
    done = subprocess.run([binary, "serve", "--database"], check=False, capture_output=True, text=True)
    return 'Unknown flag "--database"' not in done.stdout + done.stderr
