#include "CSQLiteShims.h"

#include <sqlite3.h>

int csqlite_db_config_bool(struct sqlite3 *db, int option, int value) {
    return sqlite3_db_config(db, option, value, (int *)0);
}

int csqlite_disable_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
