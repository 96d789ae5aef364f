// The tables of the run history and how a file comes to have them. Internal to db/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "db/history/errors.h"
#include "db/history/prepared_statements.h"

namespace ablate {

extern const std::string_view kSchemaSql;  ///< schema.sql: the tables of a new history

}  // namespace ablate

namespace ablate::db {

/// The schema of schema.sql, and the earliest one that migrate() brings up to date.
inline constexpr int kSchema = 24, kOldestSchema = 23;

/// Creates the tables or adds what a later schema has. Throws Error for a file that schema_of() refuses or that has damage
/// (expect_sound), before anything is written to it.
void migrate(SQLite::Database& database, const std::filesystem::path& file);

/// Before the first question: a file may be of anybody. Our SQL names tables; a view or a trigger in their place might have no
/// end, and is not run.
void trust_nothing(SQLite::Database& database);

/// The schema that a file has; 0: it is empty. Throws Error for a file of another program, of a newer schema, or of one before
/// kOldestSchema.
int schema_of(SQLite::Database& database, const std::filesystem::path& file);

/// For readers: throws Error unless the file has exactly this program's schema.
void check_schema(SQLite::Database& database, const std::filesystem::path& file);

/// Throws what SQLite reported as a person can use it, what was found, where, the remedy: Unavailable for what may pass, else
/// Error. @param patience_ms how long was waited for a lock
[[noreturn]] void fail(const SQLite::Exception& exception, const std::filesystem::path& file,
                       int patience_ms = kUsualPatienceMs);

/// Runs f(); a failure of SQLite leaves as Error.
template <class F>
auto guarded(const std::filesystem::path& file, F&& f) {
  try {
    return f();
  } catch (const SQLite::Exception& exception) {
    fail(exception, file);
  }
}

}  // namespace ablate::db
