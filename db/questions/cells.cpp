#include "db/questions/cells.h"

#include <algorithm>
#include <cmath>

#include "db/history/schema.h"
#include "db/questions/groups.h"
#include "db/questions/settling.h"
#include "db/report/statistics.h"

namespace ablate::db {
namespace {

using Members = std::vector<std::size_t>;

/// Of a point of the grid, row by row, and a metric.
std::size_t place(const Table& table, std::size_t point, std::size_t metric) {
  const auto columns = table.columns.size();
  return (point / columns * table.metrics.size() + metric) * columns + point % columns;
}

std::vector<Sample> samples_of(const Grid& grid, const Members& members, const std::vector<std::optional<double>>& values) {
  std::vector<Sample> samples;
  for (const auto t : members)
    if (values[t]) samples.push_back({grid.seeds[t], *values[t]});
  return samples;
}

std::string reason_of(const Reader& reader, std::int64_t attempt) {
  if (attempt == 0) return "";
  return guarded(reader.file(), [&] {
    SQLite::Statement ask(reader.database(), "SELECT reason FROM attempt WHERE id = ?");
    ask.bind(1, attempt);
    return ask.executeStep() ? ask.getColumn(0).getString() : std::string();
  });
}

std::vector<Cell::Failure> failures_of(const Grid& grid, const Members& members) {
  std::vector<Cell::Failure> failures;
  for (const auto* outcome : {"failed", "timeout", "interrupted", "missing"}) {
    Cell::Failure failure{outcome, 0, "", 0};
    for (const auto t : members) {
      if (grid.trials[t].outcome != outcome) continue;
      const auto reason = reason_of(grid.reader, grid.trials[t].attempt);
      if (failure.count++ == 0)
        failure.reason = reason;
      else
        failure.other_reasons += reason != failure.reason;
    }
    if (failure.count > 0) failures.push_back(failure);
  }
  return failures;
}

void settle(const Members& members, const std::vector<std::optional<double>>& values, const Settling& settling, Cell& cell) {
  for (const auto t : members) {
    if (!values[t]) continue;
    cell.unsettled = cell.unsettled || settling.unsettled[t];
    if (cell.n == 1 && settling.spread[t]) cell.uncertainty = std::abs(cell.mean) * *settling.spread[t] / 100;
  }
}

}  // namespace

void fill_cells(const Grid& grid, Table& table) {
  table.cells.resize(grid.members.size() * grid.metrics.size());
  std::optional<Settling> settling;
  if (std::any_of(grid.metrics.begin(), grid.metrics.end(), is_step_time)) settling = load_settling(grid.reader, grid.trials);
  for (std::size_t i = 0; i < grid.members.size(); ++i) {
    const auto& members = grid.members[i];
    const auto failures = failures_of(grid, members);
    for (std::size_t m = 0; m < grid.metrics.size(); ++m) {
      auto& cell = table.cells[place(table, i, m)];
      cell.trials = static_cast<int>(members.size());
      cell.samples = samples_of(grid, members, grid.results[m]);
      const auto summary = summary_of(cell.samples);
      cell.n = summary.n;
      cell.mean = summary.mean;
      cell.deviation = cell.uncertainty = summary.deviation;
      cell.failures = failures;
      if (is_step_time(grid.metrics[m])) settle(members, grid.results[m], *settling, cell);
    }
  }
}

void fill_published(const Grid& grid, std::optional<std::int64_t> experiment, Table& table) {
  std::vector<std::string> sources;
  for (std::size_t m = 0; m < grid.metrics.size(); ++m) {
    const auto values = load_published(grid.reader, grid.metrics[m].name, experiment, grid.trials, sources);
    for (std::size_t i = 0; i < grid.members.size(); ++i)
      table.cells[place(table, i, m)].published = summary_of(samples_of(grid, grid.members[i], values)).mean;
  }
  for (const auto& source : sources) table.notes.push_back("published: " + source);
  if (sources.empty()) table.notes.push_back("no [[published]] of a study gives these metrics for these trials");
}

std::vector<std::set<std::size_t>> tasks_of_cells(const Grid& grid, const std::vector<Axis>& varying, const Table& table) {
  std::vector<const Axis*> axes;
  for (const auto& axis : varying)
    if (axis.path == "task" || axis.path.starts_with("task.")) axes.push_back(&axis);
  const Groups tasks(axes, grid.trials.size(), true);
  std::vector<std::set<std::size_t>> all(table.cells.size());
  for (std::size_t m = 0; m < grid.metrics.size(); ++m)
    for (std::size_t i = 0; i < grid.members.size(); ++i)
      for (const auto t : grid.members[i])
        if (grid.results[m][t]) all[place(table, i, m)].insert(tasks.of_trial[t]);
  return all;
}

}  // namespace ablate::db
