#include "db/history/schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "core/util/stop_on_signal.h"
#include "db/history/damage.h"
#include "db/history/views.h"

namespace ablate::db {
namespace {

constexpr const char* kLastOfOlder = "ed7752a9";  // commit whose build migrates files older than kOldestSchema

constexpr int kApplicationId = 0x61626C74;  // "ablt": distinguishes a run history from other programs' SQLite files

/// Migrates schema 23 to 24: deletes withdrawn proofs. If several proofs give a key, only the earliest proof keeps it. Copies
/// rows into new tables, because ALTER TABLE reads all views, and views may name columns that no longer exist.
constexpr const char* kDropProofs = R"sql(
CREATE TEMP TABLE old_proof AS SELECT id, proven_us, before, now, environment FROM proof WHERE withdrawn_us IS NULL;
CREATE TEMP TABLE old_proof_attempt AS SELECT proof, attempt FROM proof_attempt WHERE proof IN (SELECT id FROM old_proof);
CREATE TEMP TABLE old_alias AS SELECT key, trial, proof, basis, rests_on FROM alias;
DROP TABLE spare_alias;
DROP TABLE alias;
DROP TABLE proof_attempt;
DROP TABLE proof;
)sql";
constexpr const char* kPutProofs = R"sql(
INSERT INTO proof (id, proven_us, before, now, environment) SELECT * FROM old_proof;
INSERT INTO proof_attempt (proof, attempt) SELECT * FROM old_proof_attempt;
INSERT INTO alias (key, trial, proof, basis, rests_on) SELECT * FROM old_alias;
DROP TABLE old_proof;
DROP TABLE old_proof_attempt;
DROP TABLE old_alias;
)sql";

/// Migrates schema 24 to 25, which has a column for a trial's role. In schema 24, a cell below -1 marked a tuning trial.
constexpr const char* kDropMembers = R"sql(
CREATE TEMP TABLE old_member AS SELECT experiment, trial, position, listed, cell FROM experiment_trial;
DROP TABLE experiment_trial;
)sql";
constexpr const char* kPutMembers = R"sql(
INSERT INTO experiment_trial (experiment, trial, position, listed, role, cell)
  SELECT experiment, trial, position, listed, iif(cell < -1, 'tuning', 'reported'), iif(cell < -1, -2 - cell, cell) FROM old_member;
DROP TABLE old_member;
)sql";

int pragma(SQLite::Database& database, const char* name) {
  return database.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

/// Switches to WAL, which needs exclusive use of the file for a moment. SQLite's busy timeout does not cover this switch.
void use_wal(SQLite::Database& database) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kUsualPatienceMs);
  for (;;) try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& exception) {
      if (exception.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > until || asked_to_stop != 0) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

void trust_nothing(SQLite::Database& database) {
  for (const int allowed : {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_TRUSTED_SCHEMA})
    sqlite3_db_config(database.getHandle(), allowed, 0, nullptr);
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

int schema_of(SQLite::Database& database, const std::filesystem::path& file) {
  const int version = pragma(database, "user_version");
  const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (empty && version == 0) return 0;
  if (pragma(database, "application_id") != kApplicationId)
    throw Error(
        fmt::format("{} is a SQLite database of another program: expected one that `ablate run` made. Point elsewhere "
                    "with --db FILE or ABLATE_DB.",
                    file.string()));
  if (version > kSchema)
    throw Error(
        fmt::format("{} was written by a newer ablate: found schema {}, expected {} at most. Use that ablate, or another "
                    "file with --db FILE or ABLATE_DB.",
                    file.string(), version, kSchema));
  if (version < kOldestSchema)
    throw Error(fmt::format(
        "{0} was written by an ablate that is too old: found schema {1}, expected {2} to {3}. The last commit that reads it is "
        "{4}: `git worktree add ../ablate-{4} {4}`, then build it there (tools/setup). Copy the whole history with "
        "its `ablate merge {0} --db NEW.db`, and use NEW.db here.",
        file.string(), version, kOldestSchema, kSchema, kLastOfOlder));
  return version;
}

void migrate(SQLite::Database& database, const std::filesystem::path& file) {
  const bool current = schema_of(database, file) == kSchema;
  expect_sound(database, file);
  use_wal(database);
  // A crash of the process loses nothing. A crash of the machine may lose the latest transactions, never the file.
  database.exec("PRAGMA synchronous = NORMAL");
  database.exec("PRAGMA foreign_keys = ON");
  if (current) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const int version = schema_of(database, file);  // checked again, because another process may have migrated meanwhile
  if (version == 23) database.exec(kDropProofs);
  if (version != 0) database.exec(kDropMembers);
  database.exec(kSchemaSql.data());
  if (version != 0) database.exec(kPutMembers);
  if (version == 23) database.exec(kPutProofs);
  write_views(database);
  database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.exec(fmt::format("PRAGMA user_version = {}", kSchema));
  transaction.commit();
}

void check_schema(SQLite::Database& database, const std::filesystem::path& file) {
  const int version = schema_of(database, file);
  if (version == 0)
    throw Error(fmt::format("{} is empty: nothing has been run yet. `ablate run STUDY.toml` fills it.", file.string()));
  if (version < kSchema)
    throw Error(
        fmt::format("{} was written by an older ablate: found schema {}, expected {}. The next `ablate run` with this file "
                    "upgrades it. If the file cannot be written, use a copy.",
                    file.string(), version, kSchema));
}

void fail(const SQLite::Exception& exception, const std::filesystem::path& file, int patience_ms) {
  const auto name = file.string();
  const int code = exception.getErrorCode() & 0xFF;  // without the extended part
  switch (code) {
    case SQLITE_NOTADB:
      if (!begins_as_sqlite(file))
        throw Error(
            fmt::format("{} is no run history: found a file that is no SQLite database, expected a SQLite file that "
                        "`ablate run` made. Point elsewhere with --db FILE or ABLATE_DB.",
                        name));
      [[fallthrough]];
    case SQLITE_CORRUPT:
      throw Error(damaged_text(file, exception.what()));
    case SQLITE_INTERRUPT:  // from a signal, or from Reader's limit on steps
      stop_if_asked();
      throw Error(damaged_text(file, "its pages refer to one another in a cycle"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      throw Unavailable(
          fmt::format("{} is locked: another process has been writing to it for more than {:.3g} s. Wait for it, "
                      "or end it.",
                      name, patience_ms / 1000.0));
    case SQLITE_FULL:
      throw Unavailable(
          fmt::format("cannot write {}: the disk is full. Make room and run again. Everything recorded so far is safe.", name));
    case SQLITE_IOERR:
      throw Unavailable(fmt::format("{}: {}", name, exception.what()));
    case SQLITE_CANTOPEN:
      throw Error(
          fmt::format("cannot open {}: {}. Its folder must exist and be writable; --db FILE or ABLATE_DB points "
                      "elsewhere.",
                      name, exception.what()));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw Error(fmt::format("cannot write {}: {}. Change its permissions, or point elsewhere with --db FILE or ABLATE_DB.",
                              name, exception.what()));
    case SQLITE_ERROR:  // our own SQL is right, so tables are missing or views replace them
      throw Error(
          fmt::format("{} is no run history as `ablate run` writes it: {}. Point elsewhere with --db FILE or ABLATE_DB.", name,
                      exception.what()));
    default:
      throw Error(fmt::format("{}: {}", name, exception.what()));
  }
}

}  // namespace ablate::db
