// The tables of the run history, and how a file gets them. Internal to db/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "db/history/errors.h"
#include "db/history/prepared_statements.h"

namespace ablate {

extern const std::string_view kSchemaSql;  ///< text of schema.sql: the tables of a new history

}  // namespace ablate

namespace ablate::db {

/// Schema of schema.sql, and the earliest schema that migrate() brings up to date.
inline constexpr int kSchema = 25, kOldestSchema = 23;

/// Creates the tables, or brings a file of an earlier schema up to date. Throws Error before any write if schema_of() refuses
/// the file, or if the file is damaged (expect_sound).
void migrate(SQLite::Database& database, const std::filesystem::path& file);

/// Disables the file's views and triggers. Called before the first query, because anybody may have written the file. Our SQL
/// reads tables; a view or a trigger in place of a table could run forever.
void trust_nothing(SQLite::Database& database);

/// Returns the schema of a file; 0 if it is empty. Throws Error for a file of another program, of a newer schema, or of a
/// schema before kOldestSchema.
int schema_of(SQLite::Database& database, const std::filesystem::path& file);

/// Throws Error if the file is empty or has another schema than this program's. Called by readers: they do not migrate.
void check_schema(SQLite::Database& database, const std::filesystem::path& file);

/// Throws SQLite's error as a message with cause, file and remedy: Unavailable if the error may pass, else Error.
/// @param patience_ms time that the call waited for a lock
[[noreturn]] void fail(const SQLite::Exception& exception, const std::filesystem::path& file,
                       int patience_ms = kUsualPatienceMs);

/// Runs f(), and translates a failure of SQLite by fail().
template <class F>
auto guarded(const std::filesystem::path& file, F&& f) {
  try {
    return f();
  } catch (const SQLite::Exception& exception) {
    fail(exception, file);
  }
}

}  // namespace ablate::db
