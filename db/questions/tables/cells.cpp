#include "db/questions/tables/cells.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>

#include "core/records/data_settings.h"
#include "core/records/outcome.h"
#include "core/records/setting_paths.h"
#include "core/util/without_numbers.h"
#include "db/history/schema.h"
#include "db/questions/selection/groups.h"
#include "db/questions/selection/table_axes.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

/// @param settings settings by trial; empty: all trials have the same setting
std::vector<Sample> samples_of(const TableTrials& from, const Members& members,
                               const std::vector<std::optional<double>>& values,
                               const std::vector<std::size_t>& settings = {}) {
  std::vector<Sample> samples;
  samples.reserve(members.size());
  for (const auto t : members)
    if (values[t]) samples.push_back({from.seeds[t], *values[t], from.trials[t].attempt, settings.empty() ? 0 : settings[t]});
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

std::vector<Cell::Failure> failures_of(const TableTrials& from, const Members& members) {
  std::vector<Cell::Failure> failures;
  if (std::all_of(members.begin(), members.end(), [&](auto t) { return from.trials[t].outcome == outcome::kDone; }))
    return failures;
  auto not_done = outcome_names([](const Outcome& one) { return one.name != outcome::kDone; });
  not_done.emplace_back(outcome::kMissing);
  for (const auto& outcome : not_done) {
    Cell::Failure failure{outcome, 0, "", 0};
    for (const auto t : members) {
      if (from.trials[t].outcome != outcome) continue;
      const auto reason = reason_of(from.reader, from.trials[t].attempt);
      if (failure.count++ == 0)
        failure.reason = reason;
      else
        failure.other_reasons += reason_group(reason) != reason_group(failure.reason);
    }
    if (failure.count > 0) failures.push_back(failure);
  }
  return failures;
}

/// Reliability of the trials' step times.
struct Settling {
  std::vector<std::optional<double>> spread;  ///< train/step_spread of each trial, %
  std::vector<bool> unsettled;  ///< true if a trial's step times spread too much, or the trial waited for a processor
};

Settling load_settling(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto metrics = reader.metrics();
  const auto values = [&](const std::string& name) {
    const auto at = std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.name == name; });
    return at == metrics.end() ? std::vector<std::optional<double>>(trials.size()) : load_results(reader, at->id, trials);
  };
  Settling settling{values("train/step_spread"), std::vector<bool>(trials.size(), false)};
  const auto step = values("train/step_time"), computing = values("train/step_cpu_time");
  const auto one_thread = trials_where(reader, setting::kThreads, trials, [](const auto& value) { return value.text == "1"; });
  const auto on_cpu = trials_where(reader, setting::kDevice, trials, [](const auto& value) { return value.text == "cpu"; });
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const bool spread = settling.spread[t] && *settling.spread[t] > kMostSpread;
    const bool waited = one_thread[t] && on_cpu[t] && step[t] && computing[t] && *computing[t] < kLeastComputing * *step[t];
    settling.unsettled[t] = spread || waited;
  }
  return settling;
}

void settle(const Members& members, const std::vector<std::optional<double>>& values, const Settling& settling, Cell& cell) {
  for (const auto t : members) {
    if (!values[t]) continue;
    cell.unsettled = cell.unsettled || settling.unsettled[t];
    if (cell.samples.size() == 1 && settling.spread[t]) cell.spread = *settling.spread[t];
  }
}

/// True if a trial is tested on a number of batches instead of a whole split.
bool tests_in_batches(const TableTrials& from) {
  const auto axis = load_axis(from.reader, setting::kTestBatches, from.trials);
  return std::any_of(axis.values.begin(), axis.values.end(), [](const auto& value) { return value.number != 0; });
}

/// True if each seed has one value of an axis in all trials. Then the axis varies only because the seed varies.
bool goes_with_seed(const TableTrials& from, const Axis& axis) {
  std::map<std::optional<std::int64_t>, int> values;
  for (std::size_t t = 0; t < from.trials.size(); ++t)
    if (const auto [at, fresh] = values.try_emplace(from.seeds[t], axis.of_trial[t]); !fresh && at->second != axis.of_trial[t])
      return false;
  return true;
}

/// Parameters that make a setting: all that vary except the seed. Seeds of the data are separate.
struct SettingAxes {
  std::vector<const Axis*> settings, data_seeds;
};

SettingAxes setting_axes(const std::vector<Axis>& varying) {
  SettingAxes axes;
  for (const auto& axis : varying)
    if (is_data_seed(axis.path))
      axes.data_seeds.push_back(&axis);
    else if (axis.path != setting::kSeed)
      axes.settings.push_back(&axis);
  return axes;
}

std::size_t count_of(const Groups& groups, const Members& members) {
  std::set<std::size_t> seen;
  for (const auto t : members) seen.insert(groups.of_trial[t]);
  return seen.size();
}

/// True if a seed occurs twice among the trials.
bool repeats_seed(const TableTrials& from, const Members& members) {
  std::set<std::optional<std::int64_t>> seen;
  return std::any_of(members.begin(), members.end(), [&](auto t) { return !seen.insert(from.seeds[t]).second; });
}

/// Returns the papers' value of a metric for each trial, or nullopt. The values come from the study of the trial's experiment,
/// or, for the whole history, from the latest study with a value. Adds the used sources to `sources`, without duplicates.
std::vector<std::optional<double>> load_published(const Reader& reader, const std::string& metric,
                                                  const std::vector<SelectedTrial>& trials, std::vector<std::string>& sources) {
  return guarded(reader.file(), [&] {
    std::unordered_multimap<std::int64_t, std::size_t> places;  // by trial, which may be in several experiments
    for (std::size_t i = 0; i < trials.size(); ++i) places.emplace(trials[i].id, i);
    std::vector<std::optional<double>> values(trials.size());
    SQLite::Statement ask(reader.database(),
                          "SELECT trial, value, source, experiment FROM published_value WHERE metric = ?1 ORDER BY experiment");
    ask.bind(1, metric);
    while (ask.executeStep()) {
      const auto experiment = ask.getColumn(3).getInt64();
      bool is_used = false;
      const auto [begin, end] = places.equal_range(ask.getColumn(0).getInt64());
      for (auto at = begin; at != end; ++at)
        if (const auto of = trials[at->second].experiment; of == 0 || of == experiment)
          values[at->second] = ask.getColumn(1).getDouble(), is_used = true;
      if (!is_used) continue;
      const auto source = ask.getColumn(2).getString();
      if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
    }
    return values;
  });
}

}  // namespace

std::size_t index_of(const Table& table, std::size_t row_and_column, std::size_t metric) {
  const auto columns = table.columns.size();
  return (row_and_column / columns * table.metrics.size() + metric) * columns + row_and_column % columns;
}

std::set<std::string> judges_of(const TableTrials& from) {
  const auto marks = main_metric_ids(from.trials);
  std::set<std::string> names;
  for (const auto& metric : from.reader.metrics())
    if (std::ranges::find(marks, metric.id) != marks.end()) names.insert(metric.name);
  return names;
}

void fill_cells(const TableTrials& from, Table& table) {
  table.cells.resize(from.members.size() * from.metrics.size());
  std::optional<Settling> settling;
  if (std::any_of(from.metrics.begin(), from.metrics.end(), [](const auto& metric) { return metric.of_steps; }))
    settling = load_settling(from.reader, from.trials);
  for (std::size_t i = 0; i < from.members.size(); ++i) {
    const auto& members = from.members[i];
    const auto failures = failures_of(from, members);
    for (std::size_t m = 0; m < from.metrics.size(); ++m) {
      auto& cell = table.cells[index_of(table, i, m)];
      cell.trials = static_cast<int>(members.size());
      cell.trial_ids.reserve(members.size());
      for (const auto t : members) cell.trial_ids.push_back(from.trials[t].id);
      cell.samples = samples_of(from, members, from.results[m]);
      cell.failures = failures;
      if (from.metrics[m].of_steps) settle(members, from.results[m], *settling, cell);
    }
  }
}

void fill_published(const TableTrials& from, const std::vector<Axis>& varying, Table& table) {
  const Groups by_setting(setting_axes(varying).settings, from.trials.size(), true);
  std::vector<std::string> sources;
  for (std::size_t m = 0; m < from.metrics.size(); ++m) {
    const auto values = load_published(from.reader, from.metrics[m].name, from.trials, sources);
    for (std::size_t i = 0; i < from.members.size(); ++i) {
      auto& cell = table.cells[index_of(table, i, m)];
      cell.published =
          summary_over_settings(samples_of(from, from.members[i], values, by_setting.of_trial), cell.settings).mean;
    }
  }
  for (const auto& source : sources) table.notes.push_back("published: " + source);
  table.published =
      std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) { return !std::isnan(cell.published); });
  if (sources.empty()) table.notes.push_back("no [[published]] of a study gives these metrics for these trials");
}

void fill_settings(const TableTrials& from, const std::vector<Axis>& varying, Table& table) {
  const auto [settings, data_seeds] = setting_axes(varying);
  const Groups by_setting(settings, from.trials.size(), true), by_data(data_seeds, from.trials.size(), true);
  bool seeds_vary = false, data_vary = false;
  for (std::size_t i = 0; i < from.members.size(); ++i) {
    const auto& members = from.members[i];
    auto count = count_of(by_setting, members);
    const auto of_data = count_of(by_data, members);
    // If a seed occurs with several seeds of the data, each seed of the data counts as a setting.
    const bool is_of_data = count == 1 && of_data > 1 && repeats_seed(from, members);
    if (is_of_data) count = of_data;
    for (std::size_t m = 0; m < from.metrics.size(); ++m) {
      auto& cell = table.cells[index_of(table, i, m)];
      cell.settings = static_cast<int>(std::max<std::size_t>(count, 1));
      if (count > 1)
        cell.samples = samples_of(from, members, from.results[m], is_of_data ? by_data.of_trial : by_setting.of_trial);
    }
    seeds_vary = seeds_vary || (count == 1 && members.size() > 1 && from.seeds[members.front()]);
    data_vary = data_vary || (count == 1 && of_data > 1);
  }
  if (seeds_vary)
    table.varied =
        std::string("the initial weights and the order of training") + (data_vary ? " and the data" : ", not the data");
}

void fill_tasks(const TableTrials& from, const std::vector<Axis>& varying, Table& table) {
  std::vector<const Axis*> axes;
  const bool sizes_vary =
      std::any_of(varying.begin(), varying.end(), [](const Axis& axis) { return axis.path == setting::kBatch; });
  const bool in_batches = sizes_vary && tests_in_batches(from);  // not needed if all batches have one size
  for (const auto& axis : varying)
    if (decides_test_examples(axis.path, in_batches) && !(is_data_seed(axis.path) && goes_with_seed(from, axis)))
      axes.push_back(&axis);
  const Groups tasks(axes, from.trials.size(), true);
  for (std::size_t m = 0; m < from.metrics.size(); ++m)
    for (std::size_t i = 0; i < from.members.size(); ++i)
      for (const auto t : from.members[i])
        if (from.results[m][t]) table.cells[index_of(table, i, m)].tasks.insert(tasks.of_trial[t]);
}

}  // namespace ablate::db
