// The tables of the run history and how a file comes to have them. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>

#include "core/util/error.h"

namespace ablate::db {

/// PRAGMA user_version of a file that this program writes.
int schema_version();

/// Creates the tables or adds what a later schema has. Throws Error for a file of another program or of a newer schema, before
/// anything is written to it.
void migrate(SQLite::Database& database, const std::filesystem::path& file);

/// For readers: throws Error unless the file has exactly this program's schema.
void check_schema(SQLite::Database& database, const std::filesystem::path& file);

/// What SQLite reported, as a person can use it: what was found, where, the remedy.
Error explain(const SQLite::Exception& exception, const std::filesystem::path& file);

/// Runs f(); a failure of SQLite leaves as Error.
template <class F>
auto guarded(const std::filesystem::path& file, F&& f) {
  try {
    return f();
  } catch (const SQLite::Exception& exception) {
    throw explain(exception, file);
  }
}

/// How long a process waits for another's write to end.
inline constexpr int kBusyTimeoutMs = 30'000;

}  // namespace ablate::db
