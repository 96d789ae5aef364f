#include "db/questions/main_metric.h"

#include <algorithm>
#include <map>

#include "core/records/setting_paths.h"
#include "db/history/schema.h"
#include "db/types/metric_name.h"

namespace ablate::db {
namespace {

/// Returns by id, for environments that record it, whether their attempts ran for a bench.
std::map<std::int64_t, bool> recorded_benches(const Reader& reader) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, bool> benches;
    SQLite::Statement ask(reader.database(),
                          "SELECT id, json ->> '$.run_for' = 'bench' FROM environment WHERE iif(json_valid(json), "
                          "json ->> '$.run_for' IS NOT NULL, 0)");
    while (ask.executeStep()) benches.emplace(ask.getColumn(0).getInt64(), ask.getColumn(1).getInt() != 0);
    return benches;
  });
}

/// Returns which trials were run for their cost. If an attempt does not record it, it is guessed: the attempt evaluates once,
/// at its end, on one batch of the dev and of the test split. Nobody who wants to know what it learned evaluates so little.
std::vector<bool> measuring_cost(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto paths = reader.paths();
  const auto numbers = [&](const std::string& name) {
    std::vector<double> all(trials.size(), 0);
    const auto path = paths.find(name);
    if (path == paths.end()) return all;
    const auto axis = load_axis(reader, name, path->second, trials);
    for (std::size_t t = 0; t < trials.size(); ++t)
      if (axis.of_trial[t] >= 0) all[t] = axis.values[static_cast<std::size_t>(axis.of_trial[t])].number;
    return all;
  };
  std::vector<bool> cost(trials.size(), false);
  if (const auto test = numbers(setting::kTestBatches); std::find(test.begin(), test.end(), 1) != test.end()) {  // seldom
    const auto steps = numbers(setting::kSteps), every = numbers(setting::kEvaluateEvery),
               dev = numbers(setting::kEvaluateBatches);
    for (std::size_t t = 0; t < trials.size(); ++t)
      cost[t] = every[t] > 0 && every[t] >= steps[t] && dev[t] == 1 && test[t] == 1;
  }
  const auto recorded = recorded_benches(reader);
  const auto ids = environment_ids(trials);
  for (std::size_t t = 0; t < trials.size(); ++t)
    if (const auto at = recorded.find(ids[t]); at != recorded.end()) cost[t] = at->second;
  return cost;
}

}  // namespace

std::vector<Reader::StoredMetric> main_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto metrics = reader.metrics();
  const auto cost = measuring_cost(reader, trials);
  const auto marks = main_metric_ids(trials);
  const auto marked = [&](bool of_cost_too) {
    std::vector<Reader::StoredMetric> all;
    for (std::size_t t = 0; t < trials.size(); ++t) {
      const auto is_mark = [&](const auto& metric) { return metric.id == marks[t] && !is_of_group(metric.name); };
      if (marks[t] == 0 || (cost[t] && !of_cost_too) || std::any_of(all.begin(), all.end(), is_mark)) continue;
      const auto at = std::find_if(metrics.begin(), metrics.end(), is_mark);
      if (at != metrics.end()) all.push_back(*at);
    }
    return all;
  };
  const auto has_values = [&](const Reader::StoredMetric& metric, bool of_cost_too) {
    const auto values = load_results(reader, metric.id, trials);
    for (std::size_t t = 0; t < trials.size(); ++t)
      if (values[t] && (of_cost_too || !cost[t])) return true;
    return false;
  };
  const auto first_of = [&](std::initializer_list<std::pair<const char*, bool>> names) -> std::vector<Reader::StoredMetric> {
    for (const auto& [name, of_cost_too] : names) {
      const auto at =
          std::find_if(metrics.begin(), metrics.end(), [&, &name = name](const auto& metric) { return metric.name == name; });
      if (at != metrics.end() && has_values(*at, of_cost_too)) return {*at};
    }
    return {};
  };
  if (auto learned = marked(false); !learned.empty()) return learned;
  if (auto unmarked = first_of({{"test/accuracy", false}, {"dev/accuracy", false}, {"train/step_time", true}});
      !unmarked.empty())
    return unmarked;
  if (auto of_cost = marked(true); !of_cost.empty()) return of_cost;
  if (auto accuracy = first_of({{"test/accuracy", true}}); !accuracy.empty()) return accuracy;
  for (const auto& metric : metrics)
    if (!metric.direction.empty() && !is_of_group(metric.name) && has_values(metric, true)) return {metric};
  return {};
}

}  // namespace ablate::db
