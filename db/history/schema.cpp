#include "db/history/schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <chrono>
#include <thread>

#include "db/history/views.h"

namespace ablate::db {
namespace {

constexpr int kApplicationId = 0x61626C74;  // "ablt": tells a run history from other programs' SQLite files

// Append-only: entry i leads from schema i to schema i + 1. What has been released is never edited.
constexpr std::array kMigrations = {R"sql(
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  overrides TEXT NOT NULL
) STRICT;
-- configuration: 64 bits of the hash of the resolved settings. Trials that share it differ only in code or data.
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  configuration INTEGER NOT NULL
) STRICT;
CREATE TABLE resolved (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  json TEXT NOT NULL
) STRICT;
-- listed: whether the experiment's latest grid has the trial.
CREATE TABLE experiment_trial (
  experiment INTEGER NOT NULL REFERENCES experiment,
  trial INTEGER NOT NULL REFERENCES trial,
  position INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  PRIMARY KEY (experiment, trial)
) STRICT, WITHOUT ROWID;
CREATE INDEX experiment_trial_by_trial ON experiment_trial (trial);
-- Paths and values are stored once: a million trials share a few hundred of them.
CREATE TABLE path (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE value (
  id INTEGER PRIMARY KEY,
  path INTEGER NOT NULL REFERENCES path,
  type TEXT NOT NULL CHECK (type IN ('integer', 'real', 'boolean', 'text')),
  text TEXT NOT NULL,
  number ANY,
  UNIQUE (path, text, type)
) STRICT;
CREATE TABLE parameter (
  path INTEGER NOT NULL REFERENCES path,
  trial INTEGER NOT NULL REFERENCES trial,
  value INTEGER NOT NULL REFERENCES value,
  PRIMARY KEY (path, trial)
) STRICT, WITHOUT ROWID;
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed', 'timeout', 'interrupted')),
  reason TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  wall_s REAL NOT NULL,
  cpu_s REAL NOT NULL,
  peak_resident_bytes INTEGER NOT NULL,
  signal INTEGER,
  exit_code INTEGER,
  environment INTEGER NOT NULL REFERENCES environment,
  output TEXT NOT NULL
) STRICT;
CREATE INDEX attempt_by_trial ON attempt (trial, outcome);
CREATE INDEX attempt_by_outcome ON attempt (outcome);
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('max', 'min', '')),
  description TEXT NOT NULL
) STRICT;
-- A value of NULL is "not a number": SQLite has no NaN.
CREATE TABLE result (
  metric INTEGER NOT NULL REFERENCES metric,
  attempt INTEGER NOT NULL REFERENCES attempt,
  value REAL,
  PRIMARY KEY (metric, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE curve (
  attempt INTEGER NOT NULL REFERENCES attempt,
  metric INTEGER NOT NULL REFERENCES metric,
  step INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (attempt, metric, step)
) STRICT, WITHOUT ROWID;
CREATE TABLE plugin (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('attention', 'compression', 'task')),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (kind, name, version, code_identity, content_hash, path)
) STRICT;
CREATE TABLE attempt_plugin (
  attempt INTEGER NOT NULL REFERENCES attempt,
  plugin INTEGER NOT NULL REFERENCES plugin,
  PRIMARY KEY (attempt, plugin)
) STRICT, WITHOUT ROWID;
)sql",
                                    R"sql(
-- What papers report for an experiment's trials. metric: a name, for a paper may give what no run has measured yet.
CREATE TABLE published_value (
  experiment INTEGER NOT NULL REFERENCES experiment,
  metric TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  value REAL NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (experiment, metric, trial)
) STRICT, WITHOUT ROWID;
)sql",
                                    R"sql(
-- How far an attempt got; 0: not known.
ALTER TABLE attempt ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempt ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
-- What processes say that they are running. started: of the process, in clock ticks. loss: NULL before there is one.
CREATE TABLE running (
  host TEXT NOT NULL,
  process INTEGER NOT NULL,
  started INTEGER NOT NULL,
  key TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  step INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  loss REAL,
  PRIMARY KEY (host, process, started, key)
) STRICT, WITHOUT ROWID;
)sql"};

int pragma(SQLite::Database& database, const char* name) {
  return database.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

/// Empty, ours, or an Error.
int version_of(SQLite::Database& database, const std::filesystem::path& file) {
  const int version = pragma(database, "user_version");
  const bool empty = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (empty && version == 0) return 0;
  if (pragma(database, "application_id") != kApplicationId)
    throw Error(
        fmt::format("{} is a SQLite database of another program: expected one that `ablate run` made. Point elsewhere "
                    "with --db FILE or ABLATE_DB.",
                    file.string()));
  if (version > schema_version())
    throw Error(
        fmt::format("{} was written by a newer ablate: found schema {}, expected {} at most. Use that ablate, or another "
                    "file with --db FILE or ABLATE_DB.",
                    file.string(), version, schema_version()));
  return version;
}

/// Switching to WAL needs the file for a moment alone, and SQLite's busy timeout does not cover it.
void use_wal(SQLite::Database& database) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kUsualPatienceMs);
  for (;;) try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& exception) {
      if (exception.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > until) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

int schema_version() { return static_cast<int>(kMigrations.size()); }

void migrate(SQLite::Database& database, const std::filesystem::path& file) {
  const bool current = version_of(database, file) == schema_version();
  use_wal(database);
  // A crash of the process loses nothing; a crash of the machine may lose the last runs, never the file.
  database.exec("PRAGMA synchronous = NORMAL");
  database.exec("PRAGMA foreign_keys = ON");
  if (current) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  // Asked again: another process may have migrated meanwhile.
  for (int version = version_of(database, file); version < schema_version(); ++version)
    database.exec(kMigrations[static_cast<std::size_t>(version)]);
  write_views(database);
  database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.exec(fmt::format("PRAGMA user_version = {}", schema_version()));
  transaction.commit();
}

void check_schema(SQLite::Database& database, const std::filesystem::path& file) {
  const int version = version_of(database, file);
  if (version == 0)
    throw Error(fmt::format("{} is empty: nothing has been run yet. `ablate run experiments/quickstart.toml` fills it.",
                            file.string()));
  if (version < schema_version())
    throw Error(
        fmt::format("{} was written by an older ablate: found schema {}, expected {}. The next `ablate run` with "
                    "this file upgrades it.",
                    file.string(), version, schema_version()));
}

void fail(const SQLite::Exception& exception, const std::filesystem::path& file, int patience_ms) {
  const auto name = file.string();
  const int code = exception.getErrorCode() & 0xFF;  // without the extended part
  switch (code) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw Error(
          fmt::format("{} is no run history: found {}, expected a SQLite file that `ablate run` made. Point elsewhere "
                      "with --db FILE or ABLATE_DB.",
                      name, code == SQLITE_NOTADB ? "something that is no SQLite database" : "a damaged SQLite database"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      throw Unavailable(
          fmt::format("{} is locked: another process has been writing to it for more than {:.3g} s. Wait for it, "
                      "or end it.",
                      name, patience_ms / 1000.0));
    case SQLITE_FULL:
      throw Unavailable(
          fmt::format("cannot write {}: the disk is full. Make room and run again: what was recorded is safe.", name));
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
    default:
      throw Error(fmt::format("{}: {}", name, exception.what()));
  }
}

}  // namespace ablate::db
