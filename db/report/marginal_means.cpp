#include "db/report/marginal_means.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/records/setting_paths.h"
#include "db/report/format.h"
#include "db/report/matched_means.h"

namespace ablate::db {
namespace {

/// Settings by which a parameter's values are matched, and their numbers.
class MatchedNumbers {
 public:
  MatchedNumbers(const Table& table, const GridLevels& levels, std::size_t metric, std::size_t parameter)
      : table_(table), levels_(levels), matched_(levels.matched_by(parameter)) {
    std::map<std::vector<int>, std::size_t> places;
    std::map<std::pair<std::size_t, std::optional<std::int64_t>>, std::size_t> blocks;
    std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> sums;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto value = levels.place[parameter][r];
      if (value < 0) continue;
      std::vector<int> own;
      for (const auto q : matched_) own.push_back(levels.place[q][r]);
      const auto setting = places.try_emplace(own, places.size()).first->second;
      if (setting == settings_.size()) settings_.push_back(own);
      for (const auto& sample : table.cell(r, metric, 0).samples) {
        if (!std::isfinite(sample.value)) continue;
        const auto block = blocks.try_emplace({setting, sample.seed}, blocks.size()).first->second;
        if (block == setting_of.size()) setting_of.push_back(setting);
        auto& [sum, count] = sums[{static_cast<std::size_t>(value), block}];
        sum += sample.value, ++count;
      }
    }
    for (const auto& [at, sum] : sums) numbers.push_back({at.first, at.second, sum.first / sum.second});
  }

  std::vector<std::size_t> setting_of;  ///< by block
  std::vector<BlockNumber> numbers;     ///< mean of the trials of each value and block

  /// "attention.heads=4 attention.rate=1/8"
  std::string text_of(std::size_t setting) const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < matched_.size(); ++i)
      if (const auto at = settings_[setting][i]; at >= 0)
        parts.push_back(table_.row_paths[matched_[i]] + "=" + levels_.of[matched_[i]][static_cast<std::size_t>(at)].text);
    return fmt::format("{}", fmt::join(parts, " "));
  }

 private:
  const Table& table_;
  const GridLevels& levels_;
  std::vector<std::size_t> matched_;
  std::vector<std::vector<int>> settings_;  ///< of the parameters in matched_
};

int without_number(const Cell& cell) {
  return cell.trials - static_cast<int>(std::count_if(cell.samples.begin(), cell.samples.end(),
                                                      [](const auto& one) { return std::isfinite(one.value); }));
}

}  // namespace

GridLevels::GridLevels(const Table& settings)
    : of(settings.row_paths.size()), place(settings.row_paths.size()), paths_(settings.row_paths) {
  for (std::size_t p = 0; p < of.size(); ++p) {
    std::map<std::string, int> known{{kAbsent, -1}};
    for (std::size_t r = 0; r < settings.rows.size(); ++r) {
      const auto& text = settings.rows[r][p];
      const auto [at, fresh] = known.try_emplace(text, static_cast<int>(of[p].size()));
      if (fresh) of[p].push_back({text, settings.row_values[r][p]});
      place[p].push_back(at->second);
    }
  }
  for (std::size_t p = 0; p < of.size(); ++p) {
    std::set<std::vector<int>> without;
    for (std::size_t r = 0; r < settings.rows.size(); ++r) {
      std::vector<int> setting;
      for (std::size_t q = 0; q < of.size(); ++q)
        if (q != p) setting.push_back(place[q][r]);
      without.insert(std::move(setting));
    }
    chosen_.push_back(is_below(paths_[p], section::kTrain) && paths_[p] != setting::kSteps &&
                      without.size() == settings.rows.size());
  }
}

std::vector<std::size_t> GridLevels::others(std::size_t parameter) const {
  std::vector<std::size_t> all;
  for (std::size_t q = 0; q < of.size(); ++q)
    if (q != parameter && !belongs(paths_[q], paths_[parameter])) all.push_back(q);
  return all;
}

std::vector<std::size_t> GridLevels::matched_by(std::size_t parameter) const {
  auto all = others(parameter);
  std::erase_if(all, [&](auto q) { return is_chosen(q); });
  return all;
}

Effects::Parameter marginal_means(const Table& table, const GridLevels& levels, std::size_t metric, std::size_t parameter,
                                  std::vector<std::string>& notes) {
  Effects::Parameter all{.path = table.row_paths[parameter]};
  for (const auto& level : levels.of[parameter])
    all.values.push_back({.text = level.text, .json = level.json, .unknown = "no trial has a number"});
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    if (const auto at = levels.place[parameter][r]; at >= 0)
      all.values[static_cast<std::size_t>(at)].without += without_number(table.cell(r, metric, 0));
  const MatchedNumbers trials(table, levels, metric, parameter);
  for (const auto& number : trials.numbers)
    all.values[number.value].unknown = "too few settings and seeds in common with other values";
  std::set<std::size_t> left_out(trials.setting_of.begin(), trials.setting_of.end());
  std::vector<std::string> groups;
  for (const auto& group : matched_groups(all.values.size(), trials.setting_of, trials.numbers)) {
    const auto means = matched_means(group, trials.numbers);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < means.size(); ++i) {
      auto& value = all.values[group.values[i]];
      value.mean = means[i].mean, value.low = means[i].low, value.high = means[i].high;
      value.n = static_cast<int>(group.blocks.size());
      value.unknown = std::isnan(value.low) ? "one setting and seed: no interval" : "";
      names.push_back(value.text);
    }
    groups.push_back(fmt::format("{}", fmt::join(names, ", ")));
    for (const auto block : group.blocks) left_out.erase(trials.setting_of[block]);
  }
  if (groups.size() > 1)
    notes.push_back(fmt::format("{}: compare {} only among each other, they have too few settings in common with the others",
                                all.path, fmt::join(groups, "; and ")));
  std::vector<std::string> texts;
  for (const auto setting : left_out) texts.push_back(trials.text_of(setting));
  if (!texts.empty() && !groups.empty())
    notes.push_back(
        fmt::format("{}: its means leave out settings that not all compared values have: {}", all.path, some_of(texts)));
  return all;
}

}  // namespace ablate::db
