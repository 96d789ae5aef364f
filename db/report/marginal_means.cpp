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
struct MatchedNumbers {
  MatchedNumbers(const Table& table, const GridLevels& levels, std::size_t metric, std::size_t parameter) {
    std::map<std::vector<int>, std::size_t> places;
    std::map<std::pair<std::size_t, std::optional<std::int64_t>>, std::size_t> blocks;
    std::map<std::pair<std::size_t, std::size_t>, std::pair<double, double>> sums;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto value = levels.place[parameter][r];
      if (value < 0) continue;
      std::vector<int> own;
      std::vector<std::string> text;
      for (const auto q : levels.others[parameter]) {
        if (levels.is_chosen[q]) continue;
        own.push_back(levels.place[q][r]);
        if (own.back() >= 0) text.push_back(table.row_paths[q] + "=" + table.rows[r][q]);
      }
      const auto [at, is_new] = places.try_emplace(own, places.size());
      if (is_new) settings.push_back(fmt::format("{}", fmt::join(text, " ")));
      for (const auto& sample : table.cell(r, metric, 0).samples) {
        if (!std::isfinite(sample.value)) continue;
        const auto block = blocks.try_emplace({at->second, sample.seed}, blocks.size()).first->second;
        if (block == setting_of.size()) setting_of.push_back(at->second);
        auto& [sum, count] = sums[{static_cast<std::size_t>(value), block}];
        sum += sample.value, ++count;
      }
    }
    for (const auto& [at, sum] : sums) numbers.push_back({at.first, at.second, sum.first / sum.second});
  }

  std::vector<std::string> settings;    ///< "attention.heads=4 attention.rate=1/8"
  std::vector<std::size_t> setting_of;  ///< by block
  std::vector<BlockNumber> numbers;     ///< mean of the trials of each value and block
};

}  // namespace

int without_number(const Cell& cell) {
  return cell.trials - static_cast<int>(std::count_if(cell.samples.begin(), cell.samples.end(),
                                                      [](const auto& one) { return std::isfinite(one.value); }));
}

GridLevels::GridLevels(const Table& settings)
    : of(settings.row_paths.size()), place(settings.row_paths.size()), others(settings.row_paths.size()) {
  const auto& paths = settings.row_paths;
  for (std::size_t p = 0; p < of.size(); ++p) {
    std::map<std::string, int> known{{kAbsent, -1}};
    std::set<std::vector<std::string>> without;
    for (std::size_t r = 0; r < settings.rows.size(); ++r) {
      auto row = settings.rows[r];
      const auto [at, fresh] = known.try_emplace(row[p], static_cast<int>(of[p].size()));
      if (fresh) of[p].push_back({row[p], settings.row_values[r][p]});
      place[p].push_back(at->second);
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(p));
      without.insert(std::move(row));
    }
    is_chosen.push_back(is_below(paths[p], section::kTrain) && paths[p] != setting::kSteps &&
                        without.size() == settings.rows.size());
    for (std::size_t q = 0; q < of.size(); ++q)
      if (q != p && !is_below(paths[q], paths[p])) others[p].push_back(q);
  }
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
  for (const auto setting : left_out) texts.push_back(trials.settings[setting]);
  if (!texts.empty() && !groups.empty())
    notes.push_back(
        fmt::format("{}: its means leave out settings that not all compared values have: {}", all.path, some_of(texts)));
  return all;
}

}  // namespace ablate::db
