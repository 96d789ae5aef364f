#include "db/history/imports.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/records/setting_paths.h"
#include "core/util/flatten.h"
#include "core/util/sha256.h"
#include "db/history/artifacts.h"
#include "db/history/attempt_writer.h"
#include "db/history/members.h"
#include "db/history/names.h"
#include "db/history/reader.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/history/stored_metric.h"
#include "db/history/trial_writer.h"
#include "db/history/unlike_attempts.h"
#include "db/types/records.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// Content hashes of an imported trial.
struct ContentIds {
  std::string key;                 ///< 64 hex digits
  std::int64_t configuration = 0;  ///< trial.configuration: the latest trial of a configuration counts
};

/// Returns everything that a file contains about a trial, with each number as its bits.
std::string content_of(const ImportedTrial& trial) {
  auto results = json::object();
  for (const auto& [name, value] : trial.results) results[name] = std::bit_cast<std::uint64_t>(value);
  json content = {{"experiment", trial.experiment},   {"parameters", trial.parameters},
                  {"outcome", trial.outcome},         {"reason", trial.reason},
                  {"started_us", trial.started_us},   {"wall_s", trial.wall_s},
                  {"environment", trial.environment}, {"results", results}};
  if (!trial.data_digest.empty()) content["data_digest"] = trial.data_digest;  // omitting "" keeps earlier imports' keys
  if (trial.role == Role::kLonger)
    content["role"] = to_text(*trial.role);
  else if (trial.role)  // "tunes" and its booleans keep the keys of earlier imports
    content["tunes"] = {trial.role == Role::kTuning, trial.tuned};
  return json_text(content);
}

std::vector<ContentIds> ids_of(const ImportedFile& file) {
  std::map<std::string, int> alike;  // number of earlier trials with equal content
  std::vector<ContentIds> ids;
  for (const auto& trial : file.trials) {
    const auto content = content_of(trial);
    ContentIds one{sha256(fmt::format("imported {} {}", alike[content]++, content)), 0};
    // A later trial of a configuration replaces the earlier trial. Trials without a seed do not replace each other: each
    // has its own configuration. The "0" keeps the hashes of earlier imports.
    one.configuration = configuration_of(
        trial.parameters.contains(setting::kSeed) ? "imported 0 " + json_text({trial.experiment, trial.parameters}) : one.key);
    ids.push_back(std::move(one));
  }
  return ids;
}

/// Returns the uid of the imported trial's attempt: half of the trial's key, so that the same line is recognized again.
std::string uid_of(const ContentIds& ids) { return ids.key.substr(0, 32); }

/// Finds out which trials the history lacks, one trial after the other.
class KnownTrials {
 public:
  explicit KnownTrials(SQLite::Database& database)
      : by_uid_(database, "SELECT trial FROM attempt WHERE uid = ?"),
        unlisted_(
            database,
            "SELECT 1 FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = ? AND e.name = ? AND "
            "NOT m.listed"),
        by_key_(database,
                "SELECT max(iif(json_valid(e.json), e.json ->> '$.imported' IS NOT NULL, 0)) FROM trial t JOIN attempt a ON "
                "a.trial = t.id JOIN environment e ON e.id = a.environment WHERE t.key = ? AND a.outcome IN ('done', ?)"),
        numbers_(database, fmt::format("SELECT m.name, r.value, e.json ->> '$.imported' FROM metric m CROSS JOIN result r ON "
                                       "r.metric = m.id AND r.attempt = ? JOIN attempt a ON a.id = r.attempt JOIN environment "
                                       "e ON e.id = a.environment WHERE {} ORDER BY m.name",
                                       kComparable)) {
    Statement ask(database,
                  fmt::format("SELECT t.configuration, a.id FROM attempt a JOIN trial t ON t.id = a.trial WHERE a.outcome = "
                              "'done' AND a.environment IN ({}) ORDER BY a.turn, a.uid",
                              fmt::format(kImportedEnvironments, "main")));
    while (ask.executeStep()) imports_[ask.getColumn(0).getInt64()] = ask.getColumn(1).getInt64();
  }

  /// Returns true if the trial must be imported. Otherwise adds 1 to `known` or to `ran_here` of the counts.
  bool lacks(const ImportedTrial& trial, const ContentIds& ids, Imported& counts) {
    const auto uid = bytes_of_uid(uid_of(ids));
    by_uid_.reset();
    by_uid_.bind(1, uid.data(), static_cast<int>(uid.size()));
    if (by_uid_.executeStep()) {
      imported_ = by_uid_.getColumn(0).getInt64();
      ++counts.known;
      return false;
    }
    imported_ = 0;
    renew(by_key_, trial.key, trial.outcome).executeStep();
    if (const auto imported = by_key_.getColumn(0); !imported.isNull()) {
      ++(imported.getInt() != 0 ? counts.known : counts.ran_here);
      return false;
    }
    ++counts.trials;
    compare(trial, ids, counts);
    return true;
  }

  /// Returns the trial that lacks() last checked, if an earlier import added it and the grid has left it out since; else 0.
  std::int64_t left_out_of(const std::string& experiment) {
    return imported_ != 0 && number_from(unlisted_, imported_, experiment) != 0 ? imported_ : 0;
  }

 private:
  /// Compares the trial's numbers with the latest import of the same parameters and seed, which the trial replaces.
  void compare(const ImportedTrial& trial, const ContentIds& ids, Imported& counts) {
    const auto earlier = imports_.find(ids.configuration);
    if (earlier == imports_.end() || trial.outcome != outcome::kDone) return;
    renew(numbers_, earlier->second);
    while (numbers_.executeStep()) {
      const auto now = trial.results.find(numbers_.getColumn(0).getString());
      const auto before = numbers_.isColumnNull(1) ? std::nan("") : numbers_.getColumn(1).getDouble();
      if (now == trial.results.end() || now->second == before || (std::isnan(now->second) && std::isnan(before))) continue;
      if (counts.other_numbers++ == 0)
        counts.first_other = fmt::format("line {}: {} {}, and {} in {}", trial.line, now->first, now->second, before,
                                         numbers_.getColumn(2).getString());
      break;
    }
    numbers_.reset();
  }

  Statement by_uid_, unlisted_, by_key_, numbers_;
  std::unordered_map<std::int64_t, std::int64_t> imports_;  ///< done attempts of earlier imports, by configuration
  std::int64_t imported_ = 0;
};

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Adds definitions. An existing definition stays, because numbers that were measured here use it.
void put_definitions(SQLite::Database& database, const std::vector<MetricInfo>& metrics) {
  Statement put(
      database,
      "INSERT INTO metric (name, unit, direction, description, kind, owner, of_steps) VALUES (?, ?, ?, ?, ?, ?, ?) ON "
      "CONFLICT (name) DO NOTHING");
  for (const auto& metric : metrics) put_metric(put, metric);
}

/// Adds paths, so that tables accept a parameter that no trial has.
void put_paths(SQLite::Database& database, const std::vector<std::string>& paths) {
  Statement put(database, "INSERT INTO path (name) VALUES (?) ON CONFLICT DO NOTHING");
  for (const auto& path : paths) execute(put, path);
}

std::int64_t experiment_for(SQLite::Database& database, const std::string& name, const std::string& file) {
  if (const auto known = find_experiment(database, name); known != 0) return known;
  Statement put(database,
                "INSERT INTO experiment (name, description, file, text, overrides, listed_us) VALUES (?, ?, '', '', '[]', ?)");
  execute(put, name, "imported from " + file, now_us());
  return database.getLastInsertRowid();
}

std::int64_t put_trial(PreparedStatements& statements, TrialWriter& writer, const ImportedTrial& trial, const ContentIds& ids,
                       const std::string& file) {
  const auto id = writer.put(ids.key, json(trial.parameters));
  auto configure = statements("UPDATE trial SET configuration = ? WHERE id = ?");
  execute(*configure, ids.configuration, id);
  Attempt attempt;
  attempt.key = ids.key;
  attempt.outcome = trial.outcome;
  attempt.reason = trial.reason;
  attempt.started_us = trial.started_us != 0 ? trial.started_us : now_us();
  attempt.wall_s = trial.wall_s;
  attempt.environment = trial.environment;
  attempt.environment["imported"] = file;
  if (!trial.data_digest.empty()) attempt.environment["data_digest"] = trial.data_digest;
  attempt.results = trial.results;
  attempt.main_metric = trial.main_metric;
  attempt.uid = uid_of(ids);
  AttemptWriter(statements).put(attempt);
  return id;
}

/// Trials that an import lists, with their ids.
using Come = std::vector<std::pair<std::int64_t, const ImportedTrial*>>;

/// Lists the imported trials last. The file has no cells, so trials that differ only in tuned values and seeds get one cell.
void put_behind(SQLite::Database& database, std::int64_t experiment, const Come& came) {
  std::set<std::string> own = {setting::kSeed};
  for (const auto& [unused, trial] : came) own.insert(trial->tuned.begin(), trial->tuned.end());
  const auto shared_by = [&](std::map<std::string, json> parameters) {
    for (const auto& path : own) parameters.erase(path);
    return json_text(parameters);
  };
  std::vector<ListedTrial> listed;
  std::map<std::string, std::int64_t> cells;
  std::int64_t next = 0;
  Statement ask(
      database,
      "SELECT m.trial, m.cell, r.json, m.role FROM experiment_trial m LEFT JOIN resolved r ON r.trial = m.trial AND m.cell "
      "IS NOT NULL WHERE m.experiment = ? AND m.listed ORDER BY m.position");
  ask.bind(1, experiment);
  while (ask.executeStep()) {
    const auto cell = ask.getColumn(1).getInt64();
    const auto role = find_role(ask.getColumn(3).getString()).value_or(Role::kReported);
    listed.push_back({ask.getColumn(0).getInt64(), ask.isColumnNull(1) ? std::nullopt : std::optional(cell), role});
    if (ask.isColumnNull(2)) continue;
    cells.try_emplace(shared_by(flatten(stored_json(ask.getColumn(2).getString()))), cell);
    next = std::max(next, cell + 1);
  }
  for (const auto& [id, trial] : came) {
    listed.push_back({id, std::nullopt, trial->role.value_or(Role::kReported)});
    if (!trial->role || trial->role == Role::kLonger) continue;  // longer trials are not compared on dev
    const auto [at, fresh] = cells.try_emplace(shared_by(trial->parameters), next);
    if (fresh) ++next;
    listed.back().cell = at->second;
  }
  put_members(database, experiment, listed);
}

}  // namespace

Imported put_imported(SQLite::Database& database, const ImportedFile& file) {
  put_definitions(database, file.metrics);
  put_paths(database, file.paths);
  Imported counts;
  KnownTrials known(database);
  TrialWriter writer(database);
  PreparedStatements statements(database);
  const auto ids = ids_of(file);
  std::map<std::string, Come> came;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& trial = file.trials[i];
    auto id = std::int64_t{0};
    if (known.lacks(trial, ids[i], counts))
      id = put_trial(statements, writer, trial, ids[i], file.name);
    else
      id = known.left_out_of(trial.experiment);
    if (id == 0) continue;
    const auto [at, fresh] = came.try_emplace(trial.experiment);
    if (fresh) order.push_back(trial.experiment);
    at->second.emplace_back(id, &trial);
  }
  for (const auto& name : order) put_behind(database, experiment_for(database, name, file.name), came[name]);
  return counts;
}

ParameterValues stored_values(const Reader& reader) {
  return guarded(reader.file(), [&] {
    ParameterValues values;
    Statement ask(reader.database(),
                  "SELECT n.name, v.type, v.text FROM value v JOIN path n ON n.id = v.path WHERE n.name <> ?");
    ask.bind(1, setting::kSeed);
    while (ask.executeStep()) {
      const auto text = ask.getColumn(2).getString();
      values[ask.getColumn(0).getString()].push_back(ask.getColumn(1).getString() == "text" ? json(text) : stored_json(text));
    }
    return values;
  });
}

Imported would_import(const Reader& reader, const ImportedFile& file) {
  return guarded(reader.file(), [&] {
    Imported counts;
    KnownTrials known(reader.database());
    const auto ids = ids_of(file);
    for (std::size_t i = 0; i < ids.size(); ++i) known.lacks(file.trials[i], ids[i], counts);
    return counts;
  });
}

}  // namespace ablate::db
