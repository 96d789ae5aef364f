#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "core/records/setting_paths.h"
#include "db/questions/tables/table_notes.h"

namespace ablate::db {
namespace {

/// Parameters in which a longer trial differs from the trial that it repeats, all by the same factor.
constexpr std::array kScaled = {setting::kSteps, setting::kWarmup, setting::kEvaluateEvery};

/// Finds the trial that a longer trial repeats: it has the same experiment and parameters, except kScaled.
class Repeated {
 public:
  /// @param trials candidates, then the longer trials
  Repeated(const Reader& reader, const std::vector<SelectedTrial>& trials, std::size_t candidates) : trials_(trials) {
    for (auto& axis : varying_axes(reader, trials))
      if (std::find(kScaled.begin(), kScaled.end(), axis.path) == kScaled.end()) axes_.push_back(std::move(axis));
    for (const auto* path : kScaled) scaled_.push_back(load_axis(reader, path, trials));
    for (std::size_t t = 0; t < candidates; ++t) places_.emplace(alike(t), t);
  }

  struct Found {
    std::size_t trial;  ///< index of the repeated trial
    std::int64_t factor;
  };
  std::optional<Found> of(std::size_t longer) const {
    const auto [begin, end] = places_.equal_range(alike(longer));
    for (auto at = begin; at != end; ++at)
      if (const auto factor = factor_of(longer, at->second); factor > 1) return Found{at->second, factor};
    return std::nullopt;
  }

 private:
  std::vector<std::int64_t> alike(std::size_t trial) const {
    std::vector<std::int64_t> values = {trials_[trial].experiment};
    for (const auto& axis : axes_) values.push_back(axis.of_trial[trial]);
    return values;
  }

  /// Returns the factor from each scaled parameter of `trial` to the same parameter of `longer`; 0 if the factors differ.
  std::int64_t factor_of(std::size_t longer, std::size_t trial) const {
    std::int64_t factor = 0;
    for (const auto& axis : scaled_) {
      const auto *of_longer = axis.of(longer), *of_trial = axis.of(trial);
      const double more = of_longer == nullptr ? 0 : of_longer->number, less = of_trial == nullptr ? 0 : of_trial->number;
      if (factor == 0) factor = less > 0 ? std::llround(more / less) : 0;  // the steps come first
      if (more != static_cast<double>(factor) * less) return 0;
    }
    return factor;
  }

  const std::vector<SelectedTrial>& trials_;
  std::vector<Axis> axes_, scaled_;
  std::multimap<std::vector<std::int64_t>, std::size_t> places_;
};

}  // namespace

void fill_longer(const TableTrials& from, const std::vector<SelectedTrial>& longer, Table& table) {
  table.has_longer = !longer.empty();
  if (longer.empty()) return;
  auto all = from.trials;
  all.insert(all.end(), longer.begin(), longer.end());
  const Repeated repeated(from.reader, all, from.trials.size());
  std::vector<std::vector<std::optional<double>>> results;
  for (const auto& metric : from.metrics) results.push_back(load_results(from.reader, metric.id, longer));
  std::vector<std::size_t> cell_of(from.trials.size());
  for (std::size_t i = 0; i < from.members.size(); ++i)
    for (const auto t : from.members[i]) cell_of[t] = i;
  for (std::size_t t = 0; t < longer.size(); ++t) {
    const auto found = repeated.of(from.trials.size() + t);
    for (std::size_t m = 0; found && m < from.metrics.size(); ++m) {
      const auto &value = from.results[m][found->trial], &more = results[m][t];
      auto& cell = table.cells[index_of(table, cell_of[found->trial], m)];
      ++cell.longer_trials;
      if (value && more && !std::isnan(*value) && !std::isnan(*more))
        cell.longer.push_back({from.seeds[found->trial], *value, *more, found->factor});
    }
  }
}

std::vector<std::string> longer_notes(const Table& table) {
  const auto is_score = [&](const MetricInfo& metric) {
    return metric.kind == MetricKind::kScore && !metric.direction.empty() && table.judges.contains(metric.name);
  };
  if (table.has_longer || std::none_of(table.metrics.begin(), table.metrics.end(), is_score)) return {};
  return {"trained with one number of steps: more steps may change a score or an order ([grid.longer])"};
}

}  // namespace ablate::db
