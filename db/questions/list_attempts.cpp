#include "db/questions/list_attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "db/history/process.h"
#include "db/history/schema.h"
#include "db/questions/attention_names.h"
#include "db/questions/main_metric.h"
#include "db/questions/selection.h"

namespace ablate::db {
namespace {

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
        names_(reader.paths()),
        experiment_(reader.database(), "SELECT max(experiment) FROM experiment_trial WHERE trial = ?"),
        value_(
            reader.database(),
            "SELECT v.text FROM parameter p JOIN value v ON v.id = p.value JOIN path ON path.id = p.path WHERE path.name = ? "
            "AND p.trial = ?"),
        composed_(
            reader.database(),
            "SELECT 1 FROM experiment_trial m JOIN parameter p ON p.trial = m.trial WHERE p.path = ? AND m.experiment = ? "
            "LIMIT 1") {}

  std::string of(std::int64_t trial) {
    experiment_.reset();
    experiment_.bind(1, trial);
    if (!experiment_.executeStep() || experiment_.isColumnNull(0)) return "";
    const auto experiment = experiment_.getColumn(0).getInt64();
    auto at = paths_.find(experiment);
    if (at == paths_.end()) at = paths_.emplace(experiment, paths_of(experiment)).first;
    std::string label;
    for (const auto& path : at->second) {
      const auto text = path == kAttention ? names_.name([&](const std::string& one) { return value(one, trial); })
                                           : value(path, trial).value_or("");
      if (!text.empty()) label += fmt::format("{}{}={}", label.empty() ? "" : " ", path, text);
    }
    return label;
  }

 private:
  std::optional<std::string> value(const std::string& path, std::int64_t trial) {
    value_.reset();
    value_.bind(1, path);
    value_.bind(2, trial);
    return value_.executeStep() ? std::optional(value_.getColumn(0).getString()) : std::nullopt;
  }

  /// Those that vary; the attention by its name, also where only what it is made of does.
  std::vector<std::string> paths_of(std::int64_t experiment) {
    std::vector<std::string> paths;
    const bool composed = std::any_of(names_.entries().begin(), names_.entries().end(), [&](const auto& entry) {
      composed_.reset();
      composed_.bind(1, entry.second);
      composed_.bind(2, experiment);
      return composed_.executeStep();
    });
    if (composed) paths.emplace_back(kAttention);
    for (const auto& [path, id] : varying_paths(reader_, experiment))
      if (!names_.entries().contains(path) && !(composed && path == kAttention)) paths.push_back(path);
    return paths;
  }

  const Reader& reader_;
  const AttentionNames names_;
  Statement experiment_, value_, composed_;
  std::map<std::int64_t, std::vector<std::string>> paths_;
};

/// Until its process is dead. Of another machine's nobody here can tell.
std::vector<AttemptLine> list_running(const Reader& reader, std::int64_t experiment, Labels& labels) {
  std::vector<AttemptLine> lines;
  Statement ask(
      reader.database(),
      "SELECT r.host, r.process, r.started, r.key, r.started_us, r.step, r.steps, r.loss, t.id, (SELECT group_concat(e.name) "
      "FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = t.id) FROM running r LEFT JOIN trial t "
      "ON t.key = r.key WHERE ?1 = 0 OR t.id IN (SELECT trial FROM experiment_trial WHERE experiment = ?1) ORDER BY "
      "r.started_us DESC, r.key");
  ask.bind(1, experiment);
  const auto here = this_host();
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
  while (ask.executeStep()) {
    const Process process{ask.getColumn(0).getString(), ask.getColumn(1).getInt64(), ask.getColumn(2).getInt64()};
    if (process.host == here && !lives(process)) continue;
    AttemptLine line;
    line.outcome = "running";
    line.metric = "train/loss";
    if (process.host != here) line.host = process.host;
    line.key = ask.getColumn(3).getString();
    line.started_us = ask.getColumn(4).getInt64();
    line.step = ask.getColumn(5).getInt64();
    line.steps = ask.getColumn(6).getInt64();
    if (!ask.isColumnNull(7)) line.value = ask.getColumn(7).getDouble();
    if (!ask.isColumnNull(8)) line.label = labels.of(ask.getColumn(8).getInt64());
    line.experiments = ask.getColumn(9).getString();
    line.wall_s = std::max(0.0, static_cast<double>(now.count() - line.started_us) / 1e6);
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Each line's value of the metric that its own trial says, or of the first of the list.
void fill_values(const Reader& reader, const std::vector<SelectedTrial>& trials, AttemptList& list) {
  const auto metrics = main_metrics(reader, trials);
  const auto marks = load_main_metric_ids(reader, trials);
  for (const auto& metric : metrics) {
    list.metrics.push_back(metric);
    const auto values = load_results(reader, metric.id, trials);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool marked = std::any_of(metrics.begin(), metrics.end(), [&](const auto& one) { return one.id == marks[i]; });
      if ((marked ? marks[i] : metrics.front().id) != metric.id) continue;
      list.lines[i].metric = metric.name;
      if (values[i] && !std::isnan(*values[i])) list.lines[i].value = values[i];
    }
  }
}

}  // namespace

AttemptList list_attempts(const Reader& reader, const AttemptsRequest& request) {
  return guarded(reader.file(), [&] {
    AttemptList list;
    std::string where = request.failed ? "a.outcome IN ('failed', 'timeout', 'interrupted')" : "1";
    std::int64_t experiment = 0;
    if (!request.experiment.empty()) {
      experiment = reader.experiment(request.experiment);
      where += " AND a.trial IN (SELECT trial FROM experiment_trial WHERE experiment = ?1)";
    }
    Statement count(reader.database(), "SELECT count(*) FROM attempt a WHERE " + where);
    // The lines are chosen first and filled in after: the rest of a row costs a dozen searches.
    Statement ask(reader.database(),
                  "SELECT a.id, a.trial, t.key, a.outcome, a.reason, a.wall_s, a.started_us, (SELECT group_concat(e.name) FROM "
                  "experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = t.id), (SELECT max(listed) FROM "
                  "experiment_trial WHERE trial = t.id AND (?1 = 0 OR experiment = ?1)), a.step, a.steps FROM (SELECT a.id "
                  "FROM attempt a "
                  "WHERE " +
                      where +
                      " ORDER BY a.id DESC LIMIT ?2) chosen CROSS JOIN attempt a ON a.id = chosen.id JOIN trial t ON t.id = "
                      "a.trial ORDER BY a.id DESC");
    if (experiment != 0) count.bind(1, experiment);
    ask.bind(1, experiment);
    count.executeStep();
    list.total = count.getColumn(0).getInt64();
    ask.bind(2, request.most > 0 ? request.most : -1);
    Labels labels(reader);
    std::vector<SelectedTrial> trials;
    while (ask.executeStep()) {
      AttemptLine line;
      line.attempt = ask.getColumn(0).getInt64();
      line.key = ask.getColumn(2).getString();
      line.outcome = ask.getColumn(3).getString();
      line.reason = ask.getColumn(4).getString();
      line.wall_s = ask.getColumn(5).getDouble();
      line.started_us = ask.getColumn(6).getInt64();
      line.experiments = ask.getColumn(7).getString();
      line.label = labels.of(ask.getColumn(1).getInt64());
      line.latest_grid = ask.getColumn(8).getInt() != 0;
      line.step = ask.getColumn(9).getInt64();
      line.steps = ask.getColumn(10).getInt64();
      trials.push_back({ask.getColumn(1).getInt64(), line.attempt, line.outcome});
      list.lines.push_back(std::move(line));
    }
    fill_values(reader, trials, list);
    if (!request.failed) list.running = list_running(reader, experiment, labels);
    if (list.running.empty() && reader.database().execAndGet("SELECT NOT EXISTS (SELECT 1 FROM attempt)").getInt() != 0 &&
        select_trials(reader, experiment == 0 ? std::nullopt : std::optional(experiment)).trials.empty())
      list.none_yet = no_trials_text(reader, request.experiment);
    return list;
  });
}

}  // namespace ablate::db
