#ifndef CSQLITE_SHIMS_H
#define CSQLITE_SHIMS_H

// Fixed-argument forms of variadic SQLite functions, which Swift cannot call.

struct sqlite3;

/// Sets a boolean `SQLITE_DBCONFIG_…` option of a connection. Answers an SQLite result code.
int csqlite_db_config_bool(struct sqlite3 *db, int option, int value);

/// Turns SQLite's process-wide memory statistics off: they take a global lock at each allocation.
/// Only has an effect before the first connection is opened; SQLITE_MISUSE afterwards.
int csqlite_disable_memory_statistics(void);

#endif
