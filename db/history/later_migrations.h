// The migrations from schema 12 on, which migrations.h runs behind those before. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <span>

namespace ablate::db {

/// From one schema to the next: SQL first, then what SQL cannot do.
struct LaterMigration {
  const char* sql;
  void (*then)(SQLite::Database&) = nullptr;
};

/// Entry 0 leads from schema 12 to 13. Append-only, as those before.
std::span<const LaterMigration> later_migrations();

}  // namespace ablate::db
