// Figure of a metric over steps or seconds: the mean of each row over its seeds, with a band.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "db/history/reader.h"
#include "db/history/schema.h"
#include "db/questions/figures/figures.h"
#include "db/questions/figures/parts.h"
#include "db/report/format.h"
#include "db/report/layout.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

/// Steps with their values (NaN for a value that is not a number), in the order of the steps.
using CurvePoints = std::vector<std::pair<std::int64_t, double>>;

/// Returns a metric's curve for each attempt; empty if the attempt has no curve.
std::vector<CurvePoints> load_curves(const Reader& reader, std::int64_t metric_id, const std::vector<std::int64_t>& attempts) {
  return guarded(reader.file(), [&] {
    std::vector<CurvePoints> curves;
    SQLite::Statement ask(reader.database(), "SELECT step, value FROM curve WHERE attempt = ?1 AND metric = ?2 ORDER BY step");
    for (const auto attempt : attempts) {
      auto& curve = curves.emplace_back();
      SQLite::bind(ask, attempt, metric_id);
      while (ask.executeStep()) {
        const auto value = ask.getColumn(1);
        curve.emplace_back(ask.getColumn(0).getInt64(),
                           value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.getDouble());
      }
      ask.reset();
    }
    return curves;
  });
}

/// Returns the sorted names of metrics with a curve in any of the attempts.
std::vector<std::string> metrics_with_curves(const Reader& reader, const std::vector<std::int64_t>& attempts) {
  return guarded(reader.file(), [&] {
    std::set<std::string> names;
    SQLite::Statement ask(
        reader.database(),
        "SELECT name FROM metric WHERE EXISTS (SELECT 1 FROM curve WHERE attempt = ?1 AND metric = metric.id)");
    for (const auto attempt : attempts) {
      ask.bind(1, attempt);
      while (ask.executeStep()) names.insert(ask.getColumn(0).getString());
      ask.reset();
    }
    return std::vector<std::string>(names.begin(), names.end());
  });
}

constexpr const char* kStepTime = "train/step_time";

/// Curves of a figure's attempts, with the time of a step.
struct Runs {
  std::map<std::int64_t, CurvePoints> curves;  ///< by attempt; attempts without a point are left out
  std::map<std::int64_t, double> step_s;       ///< by attempt; empty if x shows steps
};

std::vector<std::int64_t> attempts_of(const Table& table) {
  std::set<std::int64_t> all;
  for (const auto& cell : table.cells)
    for (const auto& sample : cell.samples) all.insert(sample.attempt);
  return {all.begin(), all.end()};
}

/// Returns the metric whose curves are drawn. If no metric is requested, returns the first of these metrics that has a
/// curve: the main metric, its counterpart on dev, train/loss, any other metric.
/// @param usual the table without requested metrics, because a metric with a curve may have no final value
std::string curve_metric(const Reader& reader, const Table& usual, const std::vector<std::string>& requested) {
  const auto known = metrics_with_curves(reader, attempts_of(usual));
  const auto has_curve = [&](const std::string& name) { return std::binary_search(known.begin(), known.end(), name); };
  if (requested.size() > 1)
    throw Error(fmt::format("--metric: found {} metrics, expected one metric to draw", requested.size()));
  if (!requested.empty()) {
    for (const auto& metric : reader.metrics_named(requested.front()))
      if (has_curve(metric.name)) return metric.name;
    throw Error(fmt::format("--metric: no trial has a curve of {}{}", requested.front(), hint(requested.front(), known)));
  }
  const auto& main = usual.metrics.front().name;
  for (const auto& name : {main, "dev/" + main.substr(main.find('/') + 1), std::string("train/loss")})
    if (has_curve(name)) return name;
  if (known.empty()) throw Error("plot curves: found no curve of any of these trials, expected a metric over steps");
  return known.front();
}

/// Returns a line: mean and spread at each step that all curves have, computed as in a cell with `settings` settings.
std::vector<FigurePoint> mean_line(const Runs& runs, const std::vector<Sample>& attempts, const Table& table, int settings,
                                   std::size_t& left_out) {
  std::map<std::int64_t, std::vector<Sample>> values;  // by step
  std::map<std::int64_t, double> time;
  for (const auto& one : attempts)
    for (const auto& [step, value] : runs.curves.at(one.attempt)) {
      values[step].push_back({one.seed, value, one.attempt, one.setting});
      if (!runs.step_s.empty()) time[step] += runs.step_s.at(one.attempt) * static_cast<double>(step);
    }
  std::vector<FigurePoint> line;
  const auto n = static_cast<double>(attempts.size());
  for (const auto& [step, samples] : values) {
    if (samples.size() != attempts.size()) {
      ++left_out;
      continue;
    }
    const auto summary = summary_over_settings(samples, settings);
    const double half = table.overlap ? interval_of(summary, *table.overlap) : summary.deviation;
    line.push_back({.x = runs.step_s.empty() ? static_cast<double>(step) : time[step] / n,
                    .y = summary.mean,
                    .y_low = summary.mean - half,
                    .y_high = summary.mean + half});
  }
  return line;
}

/// Returns the attempts of a row and column that have a curve. If x shows seconds, the attempts must also have a step time.
std::vector<Sample> with_curve(const Table& table, std::size_t row, std::size_t column, const Runs& runs, bool by_seconds) {
  std::map<std::int64_t, Sample> attempts;
  for (std::size_t m = 0; m < table.metrics.size(); ++m)
    for (const auto& sample : table.cell(row, m, column).samples)
      if (runs.curves.contains(sample.attempt) && (!by_seconds || runs.step_s.contains(sample.attempt)))
        attempts.emplace(sample.attempt, sample);
  std::vector<Sample> all;
  for (const auto& [unused, sample] : attempts) all.push_back(sample);
  return all;
}

void note_some(const std::string& what, const std::vector<std::string>& names, Figure& figure) {
  if (!names.empty()) figure.notes.push_back(what + ": " + some_of(names));
}

FigurePanel panel_of(const Table& table, const Runs& runs, std::size_t column, bool by_seconds, Figure& figure) {
  FigurePanel panel{.title = column_title(table, column), .x = {by_seconds ? "training time (s)" : "step"}};
  panel.y.label = one_row(with_unit(table.metrics[0]));
  std::vector<std::string> none, single, several, shortened;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto& cell = table.cell(r, 0, column);
    if (cell.trials == 0) continue;
    const auto attempts = with_curve(table, r, column, runs, by_seconds);
    if (attempts.empty()) {
      none.push_back(row_name(table, r));
      continue;
    }
    std::size_t left_out = 0;
    auto line = mean_line(runs, attempts, table, cell.settings, left_out);
    if (attempts.size() == 1)
      single.push_back(row_name(table, r));
    else if (cell.settings > 1 && (line.empty() || std::isnan(line.front().y_low)))
      several.push_back(row_name(table, r));
    panel.series.push_back({row_name(table, r), r, FigureSeries::Shape::kLine, std::move(line)});
    if (left_out > 0) shortened.push_back(row_name(table, r));
  }
  const auto at = panel.title.empty() ? "" : panel.title + ": ";
  note_some(at + "no curve", none, figure);
  note_some(at + "no band, only one trial", single, figure);
  note_some(at + "no band, a mean over several settings", several, figure);
  note_some(at + "steps that some seeds lack are left out", shortened, figure);
  return panel;
}

/// Returns a figure's table. Its metrics are the curves' metric, then metrics whose samples identify the attempts, and the step
/// time if x shows seconds.
Table table_of_curves(const Reader& reader, FigureRequest& request, bool by_seconds) {
  auto unnamed = request.table;
  unnamed.metrics.clear();
  const auto usual = bare_table(reader, unnamed);
  auto& metrics = request.table.metrics;
  metrics = {curve_metric(reader, usual, metrics)};
  for (const auto& metric : usual.metrics)
    if (metric.name != metrics.front() && metric.name != kStepTime) metrics.push_back(metric.name);
  if (by_seconds && metrics.front() != kStepTime) metrics.emplace_back(kStepTime);
  return make_table(reader, request.table);
}

Figure make_curves(const Reader& reader, FigureRequest request) {
  if (!request.x.empty() && request.x != "step" && request.x != "seconds")
    throw Error(fmt::format("--x: found {}, expected step or seconds{}", request.x,
                            hint(request.x, std::vector<std::string>{"step", "seconds"})));
  const bool by_seconds = request.x == "seconds";
  auto table = table_of_curves(reader, request, by_seconds);
  const auto& metric = request.table.metrics.front();
  Runs runs;
  const auto attempts = attempts_of(table);
  const auto curves = load_curves(reader, reader.metrics_named(metric).front().id, attempts);
  for (std::size_t i = 0; i < attempts.size(); ++i)
    if (!curves[i].empty()) runs.curves.emplace(attempts[i], curves[i]);
  if (by_seconds) {
    const auto at =
        std::find_if(table.metrics.begin(), table.metrics.end(), [](const auto& one) { return one.name == kStepTime; });
    const auto m = static_cast<std::size_t>(at - table.metrics.begin());
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        for (const auto& sample : table.cell(r, m, c).samples) runs.step_s[sample.attempt] = sample.value / 1000;
  }
  table = renamed(std::move(table));
  Figure figure;
  figure.notes = table.notes;
  note_failures(table, figure);
  for (std::size_t c = 0; c < table.columns.size(); ++c) figure.panels.push_back(panel_of(table, runs, c, by_seconds, figure));
  figure.caption = "Mean over seeds; band: ± " + width_text(table) + ".";
  if (by_seconds) figure.caption += " Time: steps multiplied by each trial's median step time, without evaluations.";
  return figure;
}

}  // namespace

const FigureKind figures::curves{"curves", "a metric over steps: one line per row, with a band over seeds",
                                 "curves: step (default) or seconds", make_curves};

}  // namespace ablate::db
