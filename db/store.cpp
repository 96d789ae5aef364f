#include "db/store.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "core/util/sha256.h"
#include "db/schema.h"
#include "db/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

struct Store::Implementation {
  std::filesystem::path file;
  SQLite::Database database;

  explicit Implementation(const std::filesystem::path& path)
      : file(path), database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyTimeoutMs) {
    migrate(database, file);
  }

  /// f() as one transaction that nobody else writes beside.
  template <class F>
  auto write(F&& f) {
    return guarded(file, [&] {
      SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
      auto result = f();
      transaction.commit();
      return result;
    });
  }

  /// Writes only what changed, so that repeating a grid that is done costs no write.
  void put_members(std::int64_t experiment, const std::vector<std::int64_t>& listed) {
    struct Place {
      std::int64_t position;
      bool listed;
    };
    std::unordered_map<std::int64_t, Place> before;
    std::vector<std::int64_t> order;
    Statement members(database, "SELECT trial, position, listed FROM experiment_trial WHERE experiment = ? ORDER BY position");
    members.bind(1, experiment);
    while (members.executeStep()) {
      order.push_back(members.getColumn(0).getInt64());
      before[order.back()] = {members.getColumn(1).getInt64(), members.getColumn(2).getInt() != 0};
    }
    Statement put(database,
                  "INSERT INTO experiment_trial (experiment, trial, position, listed) VALUES (?, ?, ?, ?) "
                  "ON CONFLICT DO UPDATE SET position = excluded.position, listed = excluded.listed");
    std::int64_t position = 0;
    std::unordered_set<std::int64_t> seen;
    const auto place = [&](std::int64_t trial, bool is_listed) {
      if (!seen.insert(trial).second) return;
      const auto at = before.find(trial);
      if (at == before.end() || at->second.position != position || at->second.listed != is_listed) {
        put.bind(1, experiment);
        put.bind(2, trial);
        put.bind(3, position);
        put.bind(4, is_listed ? 1 : 0);
        run(put);
      }
      ++position;
    };
    for (const auto trial : listed) place(trial, true);
    for (const auto trial : order) place(trial, false);
  }

  std::int64_t metric(const std::string& name) {
    Statement find(database, "SELECT id FROM metric WHERE name = ?");
    find.bind(1, name);
    if (find.executeStep()) return find.getColumn(0).getInt64();
    Statement add(database, "INSERT INTO metric (name, unit, direction, description) VALUES (?, '', '', '')");
    add.bind(1, name);
    add.exec();
    return database.getLastInsertRowid();
  }

  std::int64_t environment(const nlohmann::json& json) {
    const auto text = json_text(json.is_null() ? nlohmann::json::object() : json);
    Statement put(database,
                  "INSERT INTO environment (hash, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET hash = hash RETURNING id");
    put.bind(1, sha256(text));
    put.bind(2, text);
    put.executeStep();
    const auto id = put.getColumn(0).getInt64();
    while (put.executeStep()) {
    }
    return id;
  }

  void put_plugins(std::int64_t attempt, const std::vector<UsedPlugin>& plugins) {
    Statement add(database,
                  "INSERT INTO plugin (kind, name, version, code_identity, content_hash, path) VALUES (?, ?, ?, ?, ?, ?) "
                  "ON CONFLICT (kind, name, version, code_identity, content_hash, path) DO NOTHING");
    Statement use(database,
                  "INSERT INTO attempt_plugin (attempt, plugin) SELECT ?, id FROM plugin WHERE kind = ? AND name = ? AND "
                  "version = ? AND code_identity = ? AND content_hash = ? AND path = ? ON CONFLICT DO NOTHING");
    for (const auto& plugin : plugins) {
      int index = 0;
      use.bind(1, attempt);
      for (const auto* field :
           {&plugin.kind, &plugin.id, &plugin.version, &plugin.code_identity, &plugin.content_hash, &plugin.path}) {
        add.bind(++index, *field);
        use.bind(index + 1, *field);
      }
      run(add);
      run(use);
    }
  }
};

Store::Store(const std::filesystem::path& file) {
  implementation_ = guarded(file, [&] { return std::make_unique<Implementation>(file); });
}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

std::int64_t Store::put_experiment(const Experiment& experiment) {
  return implementation_->write([&] {
    Statement put(implementation_->database,
                  "INSERT INTO experiment (name, description, file, text, overrides) VALUES (?, ?, ?, ?, ?) "
                  "ON CONFLICT (name) DO UPDATE SET description = excluded.description, file = excluded.file, "
                  "text = excluded.text, overrides = excluded.overrides RETURNING id");
    put.bind(1, experiment.name);
    put.bind(2, experiment.description);
    put.bind(3, experiment.file);
    put.bind(4, experiment.text);
    put.bind(5, json_text(experiment.overrides));
    put.executeStep();
    const auto id = put.getColumn(0).getInt64();
    while (put.executeStep()) {
    }
    return id;
  });
}

void Store::put_trials(std::int64_t experiment, const std::vector<std::pair<std::string, nlohmann::json>>& trials) {
  implementation_->write([&] {
    TrialWriter writer(implementation_->database);
    std::vector<std::int64_t> ids;
    ids.reserve(trials.size());
    for (const auto& [key, resolved] : trials) ids.push_back(writer.put(key, resolved));
    implementation_->put_members(experiment, ids);
    return ids.size();
  });
}

void Store::put_published(std::int64_t experiment, const std::vector<PublishedValue>& values) {
  implementation_->write([&] {
    Statement forget(implementation_->database, "DELETE FROM published_value WHERE experiment = ?");
    forget.bind(1, experiment);
    forget.exec();
    Statement put(
        implementation_->database,
        "INSERT INTO published_value (experiment, metric, trial, value, source) VALUES (?, ?, (SELECT id FROM trial WHERE key "
        "= ?), ?, ?)");
    for (const auto& [key, metric, value, source] : values) {
      put.bind(1, experiment);
      put.bind(2, metric);
      put.bind(3, key);
      put.bind(4, value);
      put.bind(5, source);
      run(put);
    }
    return values.size();
  });
}

std::set<std::string> Store::done(const std::vector<std::string>& keys) {
  return guarded(implementation_->file, [&] {
    SQLite::Transaction one_snapshot(implementation_->database);
    std::set<std::string> found;
    Statement ask(
        implementation_->database,
        "SELECT 1 FROM trial JOIN attempt ON attempt.trial = trial.id WHERE trial.key = ? AND attempt.outcome = 'done' "
        "LIMIT 1");
    for (const auto& key : keys) {
      ask.bind(1, key);
      if (ask.executeStep()) found.insert(key);
      ask.reset();
    }
    return found;
  });
}

void Store::put_metrics(const std::vector<Metric>& metrics) {
  implementation_->write([&] {
    // An unchanged definition is not written again.
    Statement put(
        implementation_->database,
        "INSERT INTO metric (name, unit, direction, description) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
        "unit = excluded.unit, direction = excluded.direction, description = excluded.description "
        "WHERE (unit, direction, description) <> (excluded.unit, excluded.direction, excluded.description)");
    for (const auto& metric : metrics) {
      put.bind(1, metric.name);
      put.bind(2, metric.unit);
      put.bind(3, metric.direction);
      put.bind(4, metric.description);
      run(put);
    }
    return metrics.size();
  });
}

std::int64_t Store::put_attempt(const Attempt& attempt) {
  auto& self = *implementation_;
  return self.write([&] {
    Statement find(self.database, "SELECT id FROM trial WHERE key = ?");
    find.bind(1, attempt.key);
    if (!find.executeStep())
      throw Error(fmt::format("{}: an attempt at trial {}, which is not known: put_trials comes first", self.file.string(),
                              attempt.key));
    const auto trial = find.getColumn(0).getInt64();
    Statement add(self.database,
                  "INSERT INTO attempt (trial, outcome, reason, started_us, wall_s, cpu_s, peak_resident_bytes, signal, "
                  "exit_code, environment, output) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    add.bind(1, trial);
    add.bind(2, attempt.outcome);
    add.bind(3, attempt.reason);
    add.bind(4, attempt.started_us);
    add.bind(5, attempt.wall_s);
    add.bind(6, attempt.cpu_s);
    add.bind(7, attempt.peak_resident_bytes);
    if (attempt.signal) add.bind(8, *attempt.signal);
    if (attempt.exit_code) add.bind(9, *attempt.exit_code);
    add.bind(10, self.environment(attempt.environment));
    add.bind(11, attempt.output);
    add.exec();
    const auto id = self.database.getLastInsertRowid();

    Statement result(self.database, "INSERT INTO result (metric, attempt, value) VALUES (?, ?, ?)");
    for (const auto& [name, value] : attempt.results) {
      result.bind(1, self.metric(name));
      result.bind(2, id);
      bind_value(result, 3, value);
      run(result);
    }
    // A run that went on from a checkpoint may tell a step twice; the last telling is the one that led to the results.
    Statement point(self.database, "INSERT OR REPLACE INTO curve (attempt, metric, step, value) VALUES (?, ?, ?, ?)");
    std::unordered_map<std::string, std::int64_t> metrics;
    for (const auto& [name, step, value] : attempt.curve) {
      const auto [at, fresh] = metrics.try_emplace(name, 0);
      if (fresh) at->second = self.metric(name);
      point.bind(1, id);
      point.bind(2, at->second);
      point.bind(3, step);
      bind_value(point, 4, value);
      run(point);
    }
    self.put_plugins(id, attempt.plugins);
    return id;
  });
}

}  // namespace ablate::db
