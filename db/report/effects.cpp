#include "db/report/effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/records/setting_paths.h"
#include "db/report/effect_changes.h"
#include "db/report/least_squares.h"
#include "db/report/marginal_means.h"

namespace ablate::db {
namespace {

constexpr double kRounding = 1e-12;        ///< of numbers that are equal, relative
constexpr std::size_t kMostValues = 1500;  ///< of all parameters: above this the equations take minutes

std::string too_many(std::size_t values) {
  return fmt::format("no importance: the parameters have {} values in all, expected at most {}; --where keeps some", values,
                     kMostValues);
}

double finite_mean(const Cell& cell) {
  double sum = 0, n = 0;
  for (const auto& sample : cell.samples)
    if (std::isfinite(sample.value)) sum += sample.value, ++n;
  return sum / n;
}

/// One metric of a table of settings.
class SettingsMetric {
 public:
  SettingsMetric(const Table& table, const GridLevels& levels, std::size_t metric)
      : table_(table), levels_(levels), metric_(metric) {}

  Effects effects() const {
    Effects all{.metric = table_.metrics[metric_]};
    for (std::size_t p = 0; p < levels_.of.size(); ++p)
      all.parameters.push_back(marginal_means(table_, levels_, metric_, p, all.notes));
    fill_shares(all);
    std::stable_sort(all.parameters.begin(), all.parameters.end(),
                     [](const auto& a, const auto& b) { return !std::isnan(a.share) && !(a.share <= b.share); });
    return all;
  }

 private:
  const Cell& cell(std::size_t setting) const { return table_.cell(setting, metric_, 0); }

  /// Places of the unknowns in the equations of the settings: the general mean, then value by value.
  std::vector<std::size_t> unknowns_of(std::size_t p) const {
    std::size_t first = 1;
    for (std::size_t q = 0; q < p; ++q) first += levels_.of[q].size();
    std::vector<std::size_t> all;
    for (std::size_t v = 0; v < levels_.of[p].size(); ++v) all.push_back(first + v);
    return all;
  }

  void fill_shares(Effects& all) const {
    std::vector<std::size_t> settings;
    double centre = 0, combinations = 1;
    bool absent = false;
    for (std::size_t r = 0; r < table_.rows.size(); ++r)
      if (std::isfinite(finite_mean(cell(r)))) settings.push_back(r), centre += finite_mean(cell(r));
    all.settings = settings.size();
    if (settings.empty()) return;
    centre /= static_cast<double>(settings.size());
    std::size_t count = 1;
    for (std::size_t p = 0; p < levels_.of.size(); ++p) {
      count += levels_.of[p].size(), combinations *= static_cast<double>(levels_.of[p].size());
      absent = absent || std::any_of(levels_.place[p].begin(), levels_.place[p].end(), [](int at) { return at < 0; });
    }
    all.full = !absent && combinations == static_cast<double>(settings.size());
    if (count > kMostValues) return all.notes.push_back(too_many(count));
    NormalEquations equations(count);
    for (const auto r : settings) {
      std::vector<std::size_t> ones{0};
      for (std::size_t p = 0; p < levels_.of.size(); ++p)
        if (const auto at = levels_.place[p][r]; at >= 0) ones.push_back(unknowns_of(p)[static_cast<std::size_t>(at)]);
      const double y = finite_mean(cell(r)) - centre;
      equations.add_square(y * y);
      for (const auto i : ones) {
        equations.add_right(i, y);
        for (const auto j : ones)
          if (j <= i) equations.add(i, j, 1);
      }
    }
    auto mean = equations;
    mean.solve({0});
    const double total = mean.residual();
    if (!(total > static_cast<double>(settings.size()) * std::pow(kRounding * centre, 2))) return;
    for (std::size_t p = 0; p < levels_.of.size(); ++p) {
      auto without = mean;
      for (const auto q : levels_.others[p]) without.solve(unknowns_of(q));
      const double before = without.residual();
      without.solve(unknowns_of(p));
      all.parameters[p].share = std::clamp((before - without.residual()) / total, 0.0, 1.0);
    }
    auto everything = mean;
    for (std::size_t p = 0; p < levels_.of.size(); ++p) everything.solve(unknowns_of(p));
    all.rest = std::clamp(everything.residual() / total, 0.0, 1.0);
  }

  const Table& table_;
  const GridLevels& levels_;
  std::size_t metric_;
};

/// What a reader of the means must know.
std::vector<std::string> notes_of(const Table& table, const GridLevels& levels, const Effects& effects) {
  std::vector<std::string> notes{
      "means over matched settings and seeds: those that all compared values have, with all other parameters alike; n of them. "
      "The 95 % interval reflects how the values' differences vary over settings and seeds"};
  for (std::size_t p = 0; p < table.row_paths.size(); ++p)
    if (levels.is_chosen[p])
      notes.push_back(
          fmt::format("{} has one value for each setting of the others, as what dev chooses has: the others are not "
                      "matched by it",
                      table.row_paths[p]));
  for (const auto& path : table.row_paths)
    for (const auto& own : table.row_paths)
      if (is_below(own, path)) notes.push_back(fmt::format("each value of {} is averaged over its {}", path, own));
  notes.push_back(
      effects.full
          ? fmt::format(
                "{}: every combination of the values has a number ({} settings). Importance is the main effect's share of "
                "the variance (functional ANOVA); interactions and noise: {:.1f} %",
                effects.metric.name, effects.settings, 100 * effects.rest)
          : fmt::format(
                "{}: {} settings have a number, not every combination of the values. Importance is the share of the "
                "variance that a parameter explains beyond the others (least squares, type II): shares need not add up. "
                "All together leave {:.1f} %",
                effects.metric.name, effects.settings, 100 * effects.rest));
  int without = 0, trials = 0;
  const auto metric =
      static_cast<std::size_t>(std::find(table.metrics.begin(), table.metrics.end(), effects.metric) - table.metrics.begin());
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    trials += table.cell(r, metric, 0).trials;
    without += without_number(table.cell(r, metric, 0));
  }
  if (without > 0)
    notes.push_back(fmt::format("{}: {} of {} trials have no finite number (failed, diverged or not run): they are left out",
                                effects.metric.name, without, trials));
  return notes;
}

}  // namespace

std::vector<Effects> effects_of(Table& table, const std::vector<std::string>& reference) {
  const GridLevels levels(table);
  std::vector<Effects> all;
  for (std::size_t m = 0; m < table.metrics.size(); ++m) all.push_back(SettingsMetric(table, levels, m).effects());
  if (!reference.empty()) fill_changes(table, reference, all);
  for (auto& effects : all) {
    auto notes = reference.empty() ? notes_of(table, levels, effects) : std::vector<std::string>();
    if (!reference.empty()) effects.notes.clear();  // they are of the means
    effects.notes.insert(effects.notes.begin(), notes.begin(), notes.end());
    effects.notes.insert(effects.notes.end(), table.notes.begin(), table.notes.end());
  }
  return all;
}

}  // namespace ablate::db
