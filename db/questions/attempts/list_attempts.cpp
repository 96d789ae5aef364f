#include "db/questions/attempts/list_attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "db/history/imports.h"
#include "db/history/process.h"
#include "db/history/schema.h"
#include "db/history/unlike_attempts.h"
#include "db/questions/selection/attention_names.h"
#include "db/questions/selection/selection.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// Lists running trials, except trials of dead processes of this host. Processes of other hosts cannot be checked.
std::vector<AttemptLine> list_running(const Reader& reader, std::int64_t experiment, TrialLabels& labels) {
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

/// Fills in the value of each line: the trial's main metric, or the list's first metric if the trial has no main metric.
void fill_values(const Reader& reader, const std::vector<SelectedTrial>& trials, AttemptList& list) {
  const auto metrics = main_metrics(reader, trials);
  const auto marks = main_metric_ids(trials);
  for (const auto& metric : metrics) {
    list.metrics.push_back(metric);
    const auto values = load_results(reader, metric.id, trials);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool marked = std::any_of(metrics.begin(), metrics.end(), [&](const auto& one) { return one.id == marks[i]; });
      if ((marked ? marks[i] : metrics.front().id) != metric.id) continue;
      list.lines[i].metric = metric.name;
      if (values[i]) list.lines[i].value = values[i];
    }
  }
}

/// Marks the lines of two attempts at one trial if their numbers should be equal, but differ.
void mark_unlike(const Reader& reader, const std::vector<SelectedTrial>& trials, AttemptList& list) {
  std::vector<std::int64_t> ids;
  for (const auto& trial : trials) ids.push_back(trial.id);
  for (const auto& one : unlike_attempts(reader.database(), fmt::format("IN ({})", fmt::join(ids, ","))))
    for (auto& line : list.lines) {
      if (line.attempt == one.earlier) line.unlike = one.latest;
      if (line.attempt == one.latest) line.unlike = one.earlier;
    }
}

}  // namespace

AttemptList list_attempts(const Reader& reader, const AttemptsRequest& request) {
  return guarded(reader.file(), [&] {
    AttemptList list;
    std::string where = request.failed ? "a.outcome <> 'done'" : "1";
    if (request.here) where += fmt::format(" AND a.environment NOT IN ({})", fmt::format(kImportedEnvironments, "main"));
    std::int64_t experiment = 0;
    if (!request.experiment.empty()) {
      experiment = reader.experiment(request.experiment);
      where += " AND a.trial IN (SELECT trial FROM experiment_trial WHERE experiment = ?1)";
    }
    Statement count(reader.database(), "SELECT count(*) FROM attempt a WHERE " + where);
    // Selects the lines first and fills them in afterwards, because the rest of a row costs a dozen searches.
    Statement ask(reader.database(),
                  "SELECT a.id, a.trial, t.key, a.outcome, a.reason, a.wall_s, a.started_us, (SELECT group_concat(e.name) FROM "
                  "experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = t.id), (SELECT max(listed) FROM "
                  "experiment_trial WHERE trial = t.id AND (?1 = 0 OR experiment = ?1)), a.step, a.steps, a.main_metric, "
                  "t.setting, t.seed, a.environment FROM (SELECT a.id FROM attempt a WHERE " +
                      where +
                      " ORDER BY a.id DESC LIMIT ?2) chosen CROSS JOIN attempt a ON a.id = chosen.id JOIN trial t ON t.id = "
                      "a.trial ORDER BY a.id DESC");
    if (experiment != 0) count.bind(1, experiment);
    ask.bind(1, experiment);
    count.executeStep();
    list.total = count.getColumn(0).getInt64();
    ask.bind(2, request.most > 0 ? request.most : -1);
    TrialLabels labels(reader);
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
      auto& trial = trials.back();
      trial.main_metric = ask.getColumn(11).getInt64();
      trial.setting = ask.getColumn(12).getInt64(), trial.seed = ask.getColumn(13).getInt64();
      trial.environment = ask.getColumn(14).getInt64();
      list.lines.push_back(std::move(line));
    }
    fill_values(reader, trials, list);
    mark_unlike(reader, trials, list);
    if (!request.failed) list.running = list_running(reader, experiment, labels);
    if (list.running.empty() && reader.database().execAndGet("SELECT NOT EXISTS (SELECT 1 FROM attempt)").getInt() != 0 &&
        select_trials(reader, experiment == 0 ? std::nullopt : std::optional(experiment)).trials.empty())
      list.none_yet = no_trials_text(reader, request.experiment);
    return list;
  });
}

}  // namespace ablate::db
