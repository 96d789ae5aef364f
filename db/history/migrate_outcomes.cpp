#include "db/history/migrate_outcomes.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace ablate::db {

/// The table may have millions of rows, with those of curves behind them, and no row changes: so its text in the schema is
/// edited, as SQLite's manual has it for a constraint that goes, and no copy is made.
void free_outcomes(SQLite::Database& database) {
  int was_defensive = 0;
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, -1, &was_defensive);
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  const int version = database.execAndGet("PRAGMA schema_version").getInt();
  database.exec("PRAGMA writable_schema = ON");
  database.exec(
      "UPDATE sqlite_master SET sql = replace(sql, ' CHECK (outcome IN (''done'', ''failed'', ''timeout'', ''interrupted''))', "
      "'') WHERE type = 'table' AND name = 'attempt'");
  database.exec(fmt::format("PRAGMA schema_version = {}", version + 1));
  database.exec("PRAGMA writable_schema = RESET");
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, was_defensive, nullptr);
}

}  // namespace ablate::db
