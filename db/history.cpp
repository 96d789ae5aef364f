#include "db/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/schema.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;
using SQLite::Statement;

/// Paths with more than one value in an experiment, except what has one value everywhere.
std::vector<std::pair<std::string, std::int64_t>> varying_paths(const Reader& reader, std::int64_t experiment) {
  std::vector<std::pair<std::string, std::int64_t>> paths;
  Statement candidates(reader.database(),
                       "SELECT name, id FROM path WHERE (SELECT count(*) FROM (SELECT 1 FROM value WHERE path = path.id LIMIT "
                       "2)) = 2 ORDER BY name");
  // Ends at the first trial that differs from the first: for a parameter of the grid that is soon.
  Statement differs(reader.database(),
                    "WITH one AS (SELECT p.value FROM experiment_trial m CROSS JOIN parameter p ON p.path = ?1 AND p.trial = "
                    "m.trial WHERE m.experiment = ?2 LIMIT 1) SELECT 1 FROM experiment_trial m CROSS JOIN parameter p ON "
                    "p.path = ?1 AND p.trial = m.trial WHERE m.experiment = ?2 AND p.value <> (SELECT value FROM one) LIMIT 1");
  while (candidates.executeStep()) {
    const auto id = candidates.getColumn(1).getInt64();
    differs.reset();
    differs.bind(1, id);
    differs.bind(2, experiment);
    if (differs.executeStep()) paths.emplace_back(candidates.getColumn(0).getString(), id);
  }
  return paths;
}

/// "attention=adamra attention.rates=1/2,1/4 seed=1"
class Labels {
 public:
  explicit Labels(const Reader& reader)
      : reader_(reader),
        experiment_(reader.database(), "SELECT max(experiment) FROM experiment_trial WHERE trial = ?"),
        value_(reader.database(),
               "SELECT v.text FROM parameter p JOIN value v ON v.id = p.value WHERE p.path = ? AND p.trial = ?") {}

  std::string of(std::int64_t trial) {
    experiment_.reset();
    experiment_.bind(1, trial);
    if (!experiment_.executeStep() || experiment_.isColumnNull(0)) return "";
    const auto experiment = experiment_.getColumn(0).getInt64();
    auto at = paths_.find(experiment);
    if (at == paths_.end()) at = paths_.emplace(experiment, varying_paths(reader_, experiment)).first;
    std::string label;
    for (const auto& [name, id] : at->second) {
      value_.reset();
      value_.bind(1, id);
      value_.bind(2, trial);
      if (value_.executeStep())
        label += fmt::format("{}{}={}", label.empty() ? "" : " ", name, value_.getColumn(0).getString());
    }
    return label;
  }

 private:
  const Reader& reader_;
  Statement experiment_, value_;
  std::map<std::int64_t, std::vector<std::pair<std::string, std::int64_t>>> paths_;
};

ordered_json number(const SQLite::Column& column) {
  if (column.isNull() || !std::isfinite(column.getDouble())) return nullptr;
  return column.getDouble();
}

ordered_json integer(const SQLite::Column& column) {
  return column.isNull() ? ordered_json(nullptr) : ordered_json(column.getInt64());
}

/// For a person's shell: quotes only where they are needed.
std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::string_view("._-/=+,:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// @return (run, trial)
std::pair<std::int64_t, std::int64_t> find_run(const Reader& reader, const std::string& run) {
  auto& database = reader.database();
  const bool digits = !run.empty() && run.size() < 18 && run.find_first_not_of("0123456789") == std::string::npos;
  if (digits) {
    Statement by_number(database, "SELECT trial FROM attempt WHERE id = ?");
    by_number.bind(1, static_cast<std::int64_t>(std::stoll(run)));
    if (by_number.executeStep()) return {std::stoll(run), by_number.getColumn(0).getInt64()};
  }
  const bool hex = run.size() >= 4 && run.find_first_not_of("0123456789abcdef") == std::string::npos;
  Statement by_key(database, "SELECT id, key FROM trial WHERE key >= ? AND key < ? ORDER BY key LIMIT 2");
  if (hex) {
    by_key.bind(1, run);
    by_key.bind(2, run + "g");  // behind all hex digits
    if (by_key.executeStep()) {
      const auto trial = by_key.getColumn(0).getInt64();
      const auto key = by_key.getColumn(1).getString();
      if (by_key.executeStep())
        throw Error(fmt::format("several trials' keys begin with {}: {}, {}, ...; give more digits", run, key.substr(0, 12),
                                by_key.getColumn(1).getString().substr(0, 12)));
      Statement latest(database, "SELECT id FROM attempt WHERE trial = ? ORDER BY outcome = 'done' DESC, id DESC LIMIT 1");
      latest.bind(1, trial);
      if (!latest.executeStep()) throw Error(fmt::format("trial {} has not run yet", key.substr(0, 12)));
      return {latest.getColumn(0).getInt64(), trial};
    }
  }
  Statement last(database, "SELECT max(id) FROM attempt");
  last.executeStep();
  const auto highest = last.getColumn(0);
  throw Error(fmt::format(
      "{} has no run {}: expected {} or at least 4 hex digits of a trial's key. `ablate runs` lists the latest.",
      reader.file().string(), run,
      highest.isNull() ? "a run's number (there are none yet)" : fmt::format("a number up to {}", highest.getInt64())));
}

}  // namespace

Runs list_runs(const Reader& reader, const RunsRequest& request) {
  return guarded(reader.file(), [&] {
    Runs runs;
    const auto metric = reader.main_metric();
    if (metric) runs.metric = *metric;
    std::string where = request.failed ? "a.outcome IN ('failed', 'timeout', 'interrupted')" : "1";
    std::int64_t experiment = 0;
    if (!request.experiment.empty()) {
      experiment = reader.experiment(request.experiment);
      where += " AND a.trial IN (SELECT trial FROM experiment_trial WHERE experiment = ?1)";
    }
    // Attempts are never deleted, so the last number is how many there are: no need to count a million.
    const bool all = experiment == 0 && !request.failed;
    Statement count(reader.database(),
                    all ? "SELECT coalesce(max(id), 0) FROM attempt" : "SELECT count(*) FROM attempt a WHERE " + where);
    // The lines are chosen first and filled in after: the rest of a row costs a dozen searches.
    Statement ask(
        reader.database(),
        "SELECT a.id, a.trial, t.key, a.outcome, a.reason, a.wall_s, a.started_us, (SELECT group_concat(e.name) FROM "
        "experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = t.id), (SELECT value FROM result "
        "WHERE metric = ?2 AND attempt = a.id) FROM (SELECT a.id FROM attempt a WHERE " +
            where +
            " ORDER BY a.id DESC LIMIT ?3) chosen CROSS JOIN attempt a ON a.id = chosen.id JOIN trial t ON t.id = "
            "a.trial ORDER BY a.id DESC");
    if (experiment != 0) count.bind(1, experiment), ask.bind(1, experiment);
    count.executeStep();
    runs.total = count.getColumn(0).getInt64();
    ask.bind(2, metric ? metric->id : 0);
    ask.bind(3, request.most > 0 ? request.most : -1);
    Labels labels(reader);
    while (ask.executeStep()) {
      RunLine line;
      line.run = ask.getColumn(0).getInt64();
      line.key = ask.getColumn(2).getString();
      line.outcome = ask.getColumn(3).getString();
      line.reason = ask.getColumn(4).getString();
      line.wall_s = ask.getColumn(5).getDouble();
      line.started_us = ask.getColumn(6).getInt64();
      line.experiments = ask.getColumn(7).getString();
      line.label = labels.of(ask.getColumn(1).getInt64());
      if (!ask.isColumnNull(8)) line.value = ask.getColumn(8).getDouble();
      runs.lines.push_back(std::move(line));
    }
    return runs;
  });
}

ordered_json describe_run(const Reader& reader, const std::string& run) {
  return guarded(reader.file(), [&] {
    auto& database = reader.database();
    const auto [id, trial] = find_run(reader, run);
    const auto ask = [&](const char* sql, std::int64_t argument) {
      Statement statement(database, sql);
      statement.bind(1, argument);
      return statement;
    };
    ordered_json all;
    auto attempt =
        ask("SELECT t.key, a.outcome, a.reason, a.signal, a.exit_code, a.started_us, a.wall_s, a.cpu_s, a.peak_resident_bytes, "
            "a.output, e.json FROM attempt a JOIN trial t ON t.id = a.trial JOIN environment e ON e.id = a.environment WHERE "
            "a.id = "
            "?",
            id);
    attempt.executeStep();
    all["run"] = id;
    all["key"] = attempt.getColumn(0).getString();
    all["experiments"] = ordered_json::array();
    std::string repeat;
    auto experiments = ask(
        "SELECT e.name, e.file, e.overrides FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = ? "
        "ORDER BY e.id",
        trial);
    while (experiments.executeStep()) {
      const auto file = experiments.getColumn(1).getString();
      const auto overrides = ordered_json::parse(experiments.getColumn(2).getString());
      all["experiments"].push_back({{"name", experiments.getColumn(0).getString()}, {"file", file}, {"overrides", overrides}});
      // A trial that is done is not run again in the same history, so the repetition has one of its own.
      repeat = "ABLATE_DB=repeat.db ablate run " + shell_word(file);
      for (const auto& override_ : overrides) repeat += " --set " + shell_word(override_.get<std::string>());
    }
    all["outcome"] = attempt.getColumn(1).getString();
    all["reason"] = attempt.getColumn(2).getString();
    all["signal"] = integer(attempt.getColumn(3));
    all["exit_code"] = integer(attempt.getColumn(4));
    all["started_us"] = attempt.getColumn(5).getInt64();
    all["wall_s"] = attempt.getColumn(6).getDouble();
    all["cpu_s"] = attempt.getColumn(7).getDouble();
    all["peak_resident_bytes"] = attempt.getColumn(8).getInt64();

    // CROSS JOIN: every path is searched for the one trial. SQLite, which knows no sizes, might walk all parameters instead.
    all["parameters"] = ordered_json::object();
    auto parameters =
        ask("SELECT n.name, v.type, v.text, v.number FROM path n CROSS JOIN parameter p ON p.path = n.id JOIN value v ON v.id "
            "= p.value "
            "WHERE p.trial = ? ORDER BY n.name",
            trial);
    while (parameters.executeStep()) {
      const auto type = parameters.getColumn(1).getString();
      auto& value = all["parameters"][parameters.getColumn(0).getString()];
      if (type == "integer")
        value = parameters.getColumn(3).getInt64();
      else if (type == "real")
        value = number(parameters.getColumn(3));
      else if (type == "boolean")
        value = parameters.getColumn(3).getInt64() != 0;
      else
        value = parameters.getColumn(2).getString();
    }

    all["results"] = ordered_json::array();
    auto results = ask(
        "SELECT m.name, r.value, m.unit, m.direction FROM metric m CROSS JOIN result r ON r.metric = m.id WHERE r.attempt = ? "
        "ORDER BY "
        "m.name",
        id);
    while (results.executeStep())
      all["results"].push_back({{"metric", results.getColumn(0).getString()},
                                {"value", number(results.getColumn(1))},
                                {"unit", results.getColumn(2).getString()},
                                {"direction", results.getColumn(3).getString()}});

    all["curves"] = ordered_json::object();
    auto curves =
        ask("SELECT m.name, c.step, c.value FROM curve c JOIN metric m ON m.id = c.metric WHERE c.attempt = ? ORDER BY m.name, "
            "c.step",
            id);
    while (curves.executeStep())
      all["curves"][curves.getColumn(0).getString()].push_back({curves.getColumn(1).getInt64(), number(curves.getColumn(2))});

    all["plugins"] = ordered_json::array();
    auto plugins =
        ask("SELECT p.kind, p.name, p.version, p.code_identity, p.content_hash, p.path FROM attempt_plugin u JOIN plugin p ON "
            "p.id = "
            "u.plugin WHERE u.attempt = ? ORDER BY p.kind, p.name",
            id);
    while (plugins.executeStep()) {
      ordered_json plugin;
      int column = 0;
      for (const auto* name : {"kind", "id", "version", "code_identity", "content_hash", "path"})
        plugin[name] = plugins.getColumn(column++).getString();
      all["plugins"].push_back(plugin);
    }
    all["environment"] = ordered_json::parse(attempt.getColumn(10).getString());
    all["output"] = attempt.getColumn(9).getString();
    all["runs"] = ordered_json::array();
    auto runs = ask("SELECT id, outcome FROM attempt WHERE trial = ? ORDER BY id", trial);
    while (runs.executeStep())
      all["runs"].push_back({{"run", runs.getColumn(0).getInt64()}, {"outcome", runs.getColumn(1).getString()}});
    all["repeat"] = repeat;
    return all;
  });
}

}  // namespace ablate::db
