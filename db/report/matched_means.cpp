#include "db/report/matched_means.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>

namespace ablate::db {
namespace {

using Blocks = std::vector<std::size_t>;

class Grouping {
 public:
  Grouping(std::size_t values, const std::vector<std::size_t>& settings, std::span<const BlockNumber> numbers)
      : settings_(settings),
        most_(settings.empty() ? 0 : *std::max_element(settings.begin(), settings.end())),
        of_(values),
        left_(values) {
    std::iota(left_.begin(), left_.end(), std::size_t{0});
    for (const auto& number : numbers) of_[number.value].push_back(number.block);
    for (auto& blocks : of_) std::sort(blocks.begin(), blocks.end());
  }

  /// Removes and returns the best group of the remaining values, or nullopt if no two values share a block.
  std::optional<MatchedGroup> take() {
    auto group = best_pair();
    if (group.values.empty()) return std::nullopt;
    auto best = group;
    while (add_next(group))
      if (cells(group) >= cells(best)) best = group;
    std::erase_if(left_, [&](auto value) { return holds(best, value); });
    std::sort(best.values.begin(), best.values.end());
    return best;
  }

 private:
  static bool holds(const MatchedGroup& group, std::size_t value) {
    return std::find(group.values.begin(), group.values.end(), value) != group.values.end();
  }
  std::size_t settings_in(const Blocks& blocks) const {
    std::vector<bool> seen(most_ + 1, false);
    std::size_t count = 0;
    for (const auto block : blocks)
      if (const auto setting = settings_[block]; !seen[setting]) seen[setting] = true, ++count;
    return count;
  }
  std::size_t cells(const MatchedGroup& group) const { return group.values.size() * settings_in(group.blocks); }
  Blocks shared(const Blocks& blocks, std::size_t value) const {
    Blocks both;
    std::set_intersection(blocks.begin(), blocks.end(), of_[value].begin(), of_[value].end(), std::back_inserter(both));
    return both;
  }

  MatchedGroup best_pair() const {
    MatchedGroup best;
    std::size_t most = 0, possible = 0;
    for (const auto value : left_) possible = std::max(possible, settings_in(of_[value]));
    for (std::size_t i = 0; i < left_.size() && most < possible; ++i)
      for (std::size_t j = i + 1; j < left_.size() && most < possible; ++j)
        if (auto both = shared(of_[left_[i]], left_[j]); settings_in(both) > most)
          most = settings_in(both), best = {{left_[i], left_[j]}, std::move(both)};
    return best;
  }

  /// Adds the value that costs the fewest settings. Returns false if no value leaves any setting.
  bool add_next(MatchedGroup& group) const {
    const auto before = settings_in(group.blocks);
    std::size_t most = 0, next = 0;
    Blocks blocks;
    for (const auto value : left_)
      if (most < before && !holds(group, value))
        if (auto both = shared(group.blocks, value); settings_in(both) > most)
          most = settings_in(both), next = value, blocks = std::move(both);
    if (most == 0) return false;
    group.values.push_back(next), group.blocks = std::move(blocks);
    return true;
  }

  const std::vector<std::size_t>& settings_;
  std::size_t most_;               ///< greatest index of a setting
  std::vector<Blocks> of_;         ///< by value
  std::vector<std::size_t> left_;  ///< values without a group
};

}  // namespace

std::vector<MatchedGroup> matched_groups(std::size_t values, const std::vector<std::size_t>& settings,
                                         std::span<const BlockNumber> numbers) {
  Grouping grouping(values, settings, numbers);
  std::vector<MatchedGroup> groups;
  while (auto group = grouping.take()) groups.push_back(std::move(*group));
  return groups;
}

std::vector<MatchedMean> matched_means(const MatchedGroup& group, std::span<const BlockNumber> numbers) {
  const auto place = [](const std::vector<std::size_t>& all, std::size_t one) -> std::optional<std::size_t> {
    const auto at = std::lower_bound(all.begin(), all.end(), one);
    if (at == all.end() || *at != one) return std::nullopt;
    return static_cast<std::size_t>(at - all.begin());
  };
  const auto width = group.values.size(), count = group.blocks.size();
  std::vector<double> cells(width * count), of_value(width, 0), of_block(count, 0);
  double all = 0;
  for (const auto& number : numbers)
    if (const auto v = place(group.values, number.value), b = place(group.blocks, number.block); v && b)
      cells[*b * width + *v] = number.number;
  for (std::size_t b = 0; b < count; ++b)
    for (std::size_t v = 0; v < width; ++v) {
      const double number = cells[b * width + v];
      of_value[v] += number, of_block[b] += number, all += number;
    }
  for (auto& mean : of_value) mean /= static_cast<double>(count);
  for (auto& mean : of_block) mean /= static_cast<double>(width);
  all /= static_cast<double>(width * count);
  double rest = 0;
  for (std::size_t b = 0; b < count; ++b)
    for (std::size_t v = 0; v < width; ++v) rest += std::pow(cells[b * width + v] - of_value[v] - of_block[b] + all, 2);
  const double freedom = static_cast<double>((width - 1) * (count - 1));
  std::vector<MatchedMean> means;
  for (const double mean : of_value) {
    means.push_back({mean});
    if (freedom == 0) continue;
    const double t = boost::math::quantile(boost::math::students_t(freedom), 0.975);
    const double half = t * std::sqrt(rest / freedom / static_cast<double>(count));
    means.back().low = mean - half, means.back().high = mean + half;
  }
  return means;
}

}  // namespace ablate::db
