#include "db/history/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "db/history/attempt_writer.h"
#include "db/history/audits.h"
#include "db/history/damage.h"
#include "db/history/floors.h"
#include "db/history/imports.h"
#include "db/history/known_verdicts.h"
#include "db/history/leases.h"
#include "db/history/lineage.h"
#include "db/history/location.h"
#include "db/history/members.h"
#include "db/history/past_tries.h"
#include "db/history/proofs.h"
#include "db/history/running.h"
#include "db/history/schema.h"
#include "db/history/stop_steps.h"
#include "db/history/store_file.h"
#include "db/history/stored_metric.h"
#include "db/history/trial_writer.h"
#include "db/history/unlike_attempts.h"

namespace ablate::db {
namespace {

/// While this object lives, the other history's tables are other.NAME, read-only, and a signal ends SQLite's current work. Must
/// be constructed outside a transaction.
class Attached {
 public:
  Attached(SQLite::Database& database, const OtherHistory& other) : database_(database), file_(other.file()), stop_(database) {
    guarded(file_, [&] {
      SQLite::Statement attach(database, "ATTACH ? AS other");
      execute(attach, other.location());
    });
  }
  ~Attached() { database_.tryExec("DETACH other"); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  /// Runs f(). Reports rows that violate a constraint as a fault of the other file.
  template <class F>
  auto take(F&& f) const {
    try {
      return f();
    } catch (const SQLite::Exception& exception) {
      switch (exception.getErrorCode() & 0xFF) {
        case SQLITE_CONSTRAINT:
        case SQLITE_CORRUPT:
        case SQLITE_ERROR:
        case SQLITE_MISMATCH:
          throw Error(
              fmt::format("{} cannot be merged: found rows that are not as ablate writes them ({}). Nothing was copied; "
                          "`ablate db check --db FILE` checks a history",
                          file_.string(), exception.what()));
        default:
          throw;
      }
    }
  }

 private:
  SQLite::Database& database_;
  std::filesystem::path file_;
  StopSteps stop_;
};

}  // namespace

using SQLite::Statement;

Store::Store(const std::filesystem::path& file) {
  check_writing_location(file);
  implementation_ = guarded(file, [&] { return std::make_unique<StoreFile>(file); });
}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

const std::filesystem::path& Store::file() const { return implementation_->file.path(); }

void Store::set_patience(int milliseconds) {
  implementation_->patience_ms = milliseconds;
  db::set_patience(implementation_->database, milliseconds);
}

void Store::rescue(const std::filesystem::path& file) {
  const auto name = std::filesystem::absolute(file).string();
  std::error_code none;
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("cannot rescue the run history into {}: {}", name, why));
  };
  // Creates the file. If the file exists, another process may be rescuing the same history now.
  const int made_here = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (made_here < 0) refuse(errno == EEXIST ? "it exists" : std::strerror(errno));
  ::close(made_here);
  std::string fault;
  try {
    Statement copy(implementation_->database, "VACUUM INTO ?");
    execute(copy, name);
    SQLite::Database made(name, SQLite::OPEN_READONLY);
    fault = first_fault(made, name);
  } catch (const SQLite::Exception& exception) {
    fault = exception.what();
  }
  if (!fault.empty()) {
    std::filesystem::remove(name, none);
    refuse(fault);
  }
  implementation_->take_log_away();
}

std::int64_t Store::put_experiment(const Experiment& experiment) {
  return implementation_->write([&] {
    Statement put(implementation_->database,
                  "INSERT INTO experiment (name, description, file, text, overrides, listed_us) VALUES (?1, ?2, ?3, ?4, ?5, "
                  "coalesce(nullif(?6, 0), CAST((julianday('now') - 2440587.5) * 86400e6 AS INTEGER))) ON CONFLICT (name) DO "
                  "UPDATE SET description = excluded.description, file = excluded.file, text = excluded.text, overrides = "
                  "excluded.overrides, listed_us = max(excluded.listed_us, listed_us + (?6 = 0)) RETURNING id");
    SQLite::bind(put, experiment.name, experiment.description, experiment.file, experiment.text,
                 json_text(experiment.overrides), experiment.listed_us);
    put.executeStep();
    const auto id = put.getColumn(0).getInt64();
    while (put.executeStep()) {
    }
    return id;
  });
}

void Store::together(const std::function<void()>& writes) { implementation_->write(writes); }

void Store::put_trials(std::int64_t experiment, const std::vector<GridTrial>& trials) {
  implementation_->write([&] {
    TrialWriter writer(implementation_->database);
    std::vector<ListedTrial> listed;
    for (const auto& [key, resolved, cell, role] : trials) listed.push_back({writer.put(key, resolved), cell, role});
    put_members(implementation_->database, experiment, listed);
  });
}

void Store::put_published(std::int64_t experiment, const std::vector<PublishedValue>& values) {
  implementation_->write([&] {
    Statement forget(implementation_->database, "DELETE FROM published_value WHERE experiment = ?");
    execute(forget, experiment);
    Statement put(implementation_->database,
                  "INSERT INTO published_value (experiment, metric, trial, value, source) VALUES (?, ?, ?, ?, ?)");
    Statement trial(implementation_->database, kFindTrial);
    for (const auto& [key, metric, value, source] : values)
      execute(put, experiment, metric, number_from(trial, key), value, source);
  });
}

std::set<std::string> Store::done(const std::vector<std::string>& keys) {
  return implementation_->use([&] {
    SQLite::Transaction one_snapshot(implementation_->database);
    std::set<std::string> found;
    for (const auto& [key, attempt] : done_attempts(implementation_->database, keys)) found.insert(key);
    return found;
  });
}

std::map<std::string, PastTries> Store::tries(const std::vector<std::string>& keys) {
  return implementation_->use([&] {
    SQLite::Transaction one_snapshot(implementation_->database);
    return past_tries(implementation_->database, keys);
  });
}

void Store::put_parts(const std::vector<std::pair<std::string, Identity>>& parts) {
  implementation_->write([&] { db::put_parts(implementation_->database, parts); });
}

std::int64_t Store::put_proof(const Proof& proof) {
  return implementation_->write([&] { return db::put_proof(implementation_->database, proof); });
}

std::int64_t Store::delete_proof(std::int64_t number) {
  return implementation_->write([&] { return db::delete_proof(implementation_->database, number); });
}

void Store::put_metrics(const std::vector<MetricInfo>& metrics) {
  implementation_->write([&] {
    // Does not write an unchanged definition again.
    Statement put(
        implementation_->database,
        "INSERT INTO metric (name, unit, direction, description, kind, owner, of_steps) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET unit = excluded.unit, direction = excluded.direction, "
        "description = excluded.description, kind = excluded.kind, owner = excluded.owner, of_steps = excluded.of_steps "
        "WHERE (unit, direction, description, kind, owner, of_steps) <> "
        "(excluded.unit, excluded.direction, excluded.description, excluded.kind, excluded.owner, excluded.of_steps)");
    for (const auto& metric : metrics) put_metric(put, metric);
  });
}

std::int64_t Store::put_attempt(const Attempt& attempt) {
  return implementation_->write([&] { return AttemptWriter(implementation_->statements).put(attempt); });
}

std::string Store::unlike_numbers(const std::string& key) {
  return implementation_->use([&] {
    auto ask = implementation_->statements("SELECT id FROM trial WHERE key = ? UNION SELECT trial FROM alias WHERE key = ?1");
    ask->bind(1, key);
    if (!ask->executeStep()) return std::string();
    const auto all = unlike_attempts(implementation_->database, fmt::format("= {}", ask->getColumn(0).getInt64()));
    return all.empty() ? std::string() : all.front().text;
  });
}

void Store::put_verdicts(const std::vector<KnownVerdict>& verdicts) {
  implementation_->write([&] { db::put_verdicts(implementation_->database, verdicts); });
}

Merged Store::merge(const OtherHistory& other) {
  auto& database = implementation_->database;
  const Attached attached(database, other);
  auto merged = implementation_->write([&] { return attached.take([&] { return merge_attached(database, other.file()); }); });
  for (const auto& left : guarded(file(), [&] { return waiting_checkpoints(database, other.beside()); }))
    if (std::none_of(merged.lacked.begin(), merged.lacked.end(), [&](const auto& one) { return one.name == left.name; }))
      merged.lacked.push_back(left);
  std::erase_if(merged.lacked, [&](const ArtifactFile& one) {
    std::error_code none;
    return std::filesystem::exists(one.in(file()), none);
  });
  merged.copied = copy_files(other.beside(), file(), merged.lacked);
  limit_output(kMostOutputBytes);
  tidy_checkpoints({}, kMostCheckpointBytes);
  return merged;
}

KeptFiles Store::limit_output(std::uintmax_t most_bytes) { return remove(oldest_output(file(), most_bytes)); }

KeptFiles Store::tidy_checkpoints(const std::set<std::string>& running, std::uintmax_t most_bytes) {
  const auto needless =
      implementation_->use([&] { return needless_checkpoints(implementation_->database, file(), running, most_bytes); });
  // First writes the results of the done trials to disk, in case the power fails: a commit may still be only in memory.
  if (!needless.done.empty())
    implementation_->use(
        [&] { return Statement(implementation_->database, "PRAGMA wal_checkpoint(PASSIVE)").tryExecuteStep(); });
  remove(needless.done);
  return remove(needless.oldest);
}

void Store::remove_checkpoints(const std::string& key) { remove(checkpoints_of(file(), {key})); }

KeptFiles Store::remove(const std::vector<ArtifactFile>& files) {
  if (files.empty()) return {};
  const auto removed = remove_files(file(), files);
  implementation_->write([&] { mark_removed(implementation_->database, files); });
  return removed;
}

std::set<std::string> Store::with_weights(const std::vector<std::string>& keys) {
  return implementation_->use([&] {
    SQLite::Transaction one_snapshot(implementation_->database);
    return keys_with_weights(implementation_->database, done_attempts(implementation_->database, keys));
  });
}

Imported Store::import(const ImportedFile& file) {
  return implementation_->write([&] { return put_imported(implementation_->database, file); });
}

void Store::put_audit(const Audit& audit) {
  implementation_->write([&] { db::put_audit(implementation_->database, audit); });
}

std::optional<Audit> Store::audit(const std::string& digest, const std::string& task) {
  return implementation_->use([&] { return find_audit(implementation_->database, digest, task); });
}

void Store::put_floors(const KnownFloors& floors) {
  implementation_->write([&] { db::put_floors(implementation_->database, floors); });
}

std::optional<KnownFloors> Store::floors(const std::string& digest, const nlohmann::json& task, const ExampleRows& rows) {
  return implementation_->use([&] { return find_floors(implementation_->database, digest, task, rows); });
}

void Store::put_running(const std::vector<RunningTrial>& trials) {
  implementation_->write([&] {
    db::put_running(implementation_->database, trials);
    mark_alive(implementation_->database);
  });
}

std::int64_t Store::add_owner(const std::function<bool(std::int64_t slot)>& take, const Meet& meet) {
  return implementation_->write([&] { return db::add_owner(implementation_->database, take, meet); });
}

void Store::put_worker(std::int64_t slot, std::int64_t worker, std::int64_t started) {
  implementation_->write([&] { db::put_worker(implementation_->database, slot, worker, started); });
}

void Store::remove_owner(std::int64_t slot, const std::function<void()>& last) {
  implementation_->write([&] {
    if (db::remove_owner(implementation_->database, slot)) last();
  });
}

LeaseAnswer Store::take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                              const IsOver& is_over) {
  const LeaseRequest request{key, slot, since, again, is_over};
  // Most requested trials are done or run elsewhere. This read then avoids waiting for the writer's lock.
  const auto none = implementation_->use([&] { return not_leased(implementation_->database, request); });
  if (none) return *none;
  return implementation_->write([&] { return db::take_lease(implementation_->database, request); });
}

void Store::give_back(const std::string& key, std::int64_t fence) {
  implementation_->write([&] { db::give_back(implementation_->database, key, fence); });
}

bool Store::put_leased(const Attempt& attempt) {
  return implementation_->write([&] { return db::put_leased(implementation_->statements, attempt); });
}

Leases Store::leases() {
  return implementation_->use([&] { return db::leases(implementation_->database); });
}

}  // namespace ablate::db
