#include "db/questions/main_metric.h"

#include <algorithm>
#include <set>

#include "db/history/schema.h"
#include "db/types/metric_name.h"

namespace ablate::db {
namespace {

/// Returns which trials ran for a bench: their environments say so.
std::vector<bool> measuring_cost(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::set<std::int64_t> benches;
    SQLite::Statement ask(reader.database(),
                          "SELECT id FROM environment WHERE iif(json_valid(json), json ->> '$.run_for' = 'bench', 0)");
    while (ask.executeStep()) benches.insert(ask.getColumn(0).getInt64());
    std::vector<bool> cost;
    for (const auto id : environment_ids(trials)) cost.push_back(benches.contains(id));
    return cost;
  });
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
