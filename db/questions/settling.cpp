#include "db/questions/settling.h"

#include <algorithm>
#include <string_view>

#include "core/records/setting_paths.h"

namespace ablate::db {

Settling load_settling(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto metrics = reader.metrics();
  const auto values = [&](const std::string& name) {
    const auto at = std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.name == name; });
    return at == metrics.end() ? std::vector<std::optional<double>>(trials.size()) : load_results(reader, at->id, trials);
  };
  const auto paths = reader.paths();
  const auto have = [&](const std::string& path, std::string_view text) {
    std::vector<bool> all(trials.size(), false);
    const auto at = paths.find(path);
    if (at == paths.end()) return all;
    const auto axis = load_axis(reader, path, at->second, trials);
    for (std::size_t t = 0; t < trials.size(); ++t)
      all[t] = axis.of_trial[t] >= 0 && axis.values[static_cast<std::size_t>(axis.of_trial[t])].text == text;
    return all;
  };
  Settling settling{values("train/step_spread"), std::vector<bool>(trials.size(), false)};
  const auto step = values("train/step_time"), computing = values("train/step_cpu_time");
  const auto one_thread = have(setting::kThreads, "1"), on_cpu = have(setting::kDevice, "cpu");
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const bool spread = settling.spread[t] && *settling.spread[t] > kMostSpread;
    const bool waited = one_thread[t] && on_cpu[t] && step[t] && computing[t] && *computing[t] < kLeastComputing * *step[t];
    settling.unsettled[t] = spread || waited;
  }
  return settling;
}

}  // namespace ablate::db
