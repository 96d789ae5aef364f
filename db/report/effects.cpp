#include "db/report/effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "db/report/comparisons.h"
#include "db/report/format.h"
#include "db/report/matched_means.h"
#include "db/report/reference_lines.h"

namespace ablate::db {
namespace {

constexpr const char* kReference = "--reference";

/// Returns the setting that meets the conditions.
std::size_t reference_of(const Table& table, const std::vector<std::string>& conditions) {
  for (const auto& condition : conditions) {
    const auto path = history_path(condition.substr(0, condition.find('=')));
    if (condition.find('=') != std::string::npos && !path.empty() &&
        std::find(table.row_paths.begin(), table.row_paths.end(), path) == table.row_paths.end())
      throw Error(fmt::format(
          "{} {}: {} does not vary among the settings, expected {}{}", kReference, condition, path,
          fmt::join(table.row_paths, ", "),
          nearest(path, table.row_paths).empty() ? "" : fmt::format(" (did you mean {}?)", nearest(path, table.row_paths))));
  }
  const auto lines = reference_lines(kReference, conditions, table);
  if (lines.single()) return lines.of.front();
  std::vector<std::string> rest;
  for (const auto& path : table.row_paths)
    if (std::none_of(conditions.begin(), conditions.end(), [&](const auto& one) { return one.starts_with(path + "="); }))
      rest.push_back(path);
  throw Error(fmt::format("{} {}: found several settings, expected one; add a value of {}", kReference, lines.text,
                          fmt::join(rest, " or ")));
}

/// Returns the index of the only parameter that differs between two settings, or nullopt. A parameter that one setting lacks
/// counts only if no other parameter differs.
std::optional<std::size_t> changed(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::vector<std::size_t> all, in_both;
  for (std::size_t p = 0; p < from.size(); ++p) {
    if (from[p] == to[p]) continue;
    all.push_back(p);
    if (from[p] != kAbsent && to[p] != kAbsent) in_both.push_back(p);
  }
  if (in_both.size() == 1) return in_both.front();
  if (in_both.empty() && all.size() == 1) return all.front();
  return std::nullopt;
}

/// Returns the settings that are one change away from the reference, parameter by parameter.
std::vector<std::pair<std::size_t, Effects::Change>> changes_from(const Table& table, std::size_t reference) {
  std::vector<std::pair<std::size_t, Effects::Change>> all;
  const auto& from = table.rows[reference];
  for (std::size_t p = 0; p < from.size(); ++p)
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto& to = table.rows[r];
      if (r == reference || changed(from, to) != p) continue;
      Effects::Change change{.path = table.row_paths[p], .from = from[p], .to = to[p]};
      for (std::size_t q = 0; q < to.size(); ++q)
        if (q != p && to[q] != from[q])
          change.with += fmt::format("{}{}", change.with.empty() ? "" : " ",
                                     to[q] == kAbsent ? "no " + table.row_paths[q] : table.row_paths[q] + "=" + to[q]);
      all.emplace_back(r, std::move(change));
    }
  return all;
}

/// Fills reference and changes of all metrics: the effect of changing only one parameter, compared with one setting of the
/// grid. Adds notes to `table`. For the parameters see effects_of.
void fill_changes(Table& table, const std::vector<std::string>& conditions, std::vector<Effects>& all) {
  const auto reference = reference_of(table, conditions);
  const auto changes = changes_from(table, reference);
  Comparisons comparisons(table);
  std::vector<std::string> label;
  for (std::size_t p = 0; p < table.row_paths.size(); ++p)
    if (table.rows[reference][p] != kAbsent) label.push_back(table.row_paths[p] + "=" + table.rows[reference][p]);
  for (std::size_t m = 0; m < all.size(); ++m) {
    all[m].reference = fmt::format("{}", fmt::join(label, " "));
    all[m].changes.reserve(changes.size());  // comparisons keep pointers to the changes until all are decided
    for (const auto& [setting, change] : changes) {
      auto& into = all[m].changes.emplace_back(change).difference;
      const auto at = table.index_of(setting, m, 0), to = table.index_of(reference, m, 0);
      const auto& none = table.cells[to].n == 0 ? table.cells[to] : table.cells[at];
      if (none.n > 0 && is_tested(table.metrics[m]))
        comparisons.compare(at, to, into);
      else if (none.n > 0)
        into.significance = Comparison::Significance::kUntested, into.untested = "it is a count",
        into.value = table.cells[at].mean - table.cells[to].mean;
      else
        into.significance = Comparison::Significance::kUntested,
        into.untested = &none == &table.cells[to] ? "the reference has no number" : "it has no number";
    }
  }
  comparisons.decide();
  comparisons.note("better, worse than " + all.front().reference);
  if (changes.empty()) table.notes.emplace_back("no setting differs from the reference in only one parameter");
}

/// The settings' values, by parameter.
struct GridLevels {
  struct Level {
    std::string text;
    nlohmann::ordered_json json;
  };
  /// @param settings one setting in each row
  explicit GridLevels(const Table& settings)
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

  std::vector<std::vector<Level>> of;   ///< [parameter], in the order of the grid
  std::vector<std::vector<int>> place;  ///< [parameter][setting]; -1: absent
  /// [parameter]: true for a training parameter with one value for each setting of the other parameters. An imported study of
  /// tuned values has such parameters; the table of a tuned study in the history has no rows for them.
  std::vector<bool> is_chosen;
  std::vector<std::vector<std::size_t>> others;  ///< [parameter]: all other parameters, except its sub-parameters
};

/// Numbers of one metric by the value of one parameter and by block. A block is a seed and a setting of the other parameters.
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

/// Returns the number of trials of a setting that have no finite number.
int without_number(const Cell& cell) {
  return cell.trials - static_cast<int>(std::count_if(cell.samples.begin(), cell.samples.end(),
                                                      [](const auto& one) { return std::isfinite(one.value); }));
}

/// Fills everything about a parameter except its share. Adds notes on what the means leave out.
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
    notes.push_back(fmt::format("{}: compare values only within a group, because the groups share too few settings: {}",
                                all.path, fmt::join(groups, "; and ")));
  std::vector<std::string> texts;
  for (const auto setting : left_out) texts.push_back(trials.settings[setting]);
  if (!texts.empty() && !groups.empty())
    notes.push_back(
        fmt::format("{}: its means leave out settings that some compared values lack: {}", all.path, some_of(texts)));
  return all;
}

/// Normal equations, solved by sweeping (Goodnight 1979, "A tutorial on the SWEEP operator"). An unknown that earlier unknowns
/// determine gets coefficient 0. This choice does not change the sum of squares of the residuals.
class NormalEquations {
 public:
  explicit NormalEquations(std::size_t unknowns)
      : unknowns_(unknowns), cells_((unknowns + 1) * (unknowns + 1), 0.0), solved_(unknowns, false) {}

  /// X'X[i][j] += value, and if i != j also X'X[j][i] += value.
  void add(std::size_t i, std::size_t j, double value) {
    at(i, j) += value;
    if (i != j) at(j, i) += value;
  }
  /// X'y[i] += value.
  void add_right(std::size_t i, double value) { at(i, unknowns_) += value, at(unknowns_, i) += value; }
  /// y'y += value.
  void add_square(double value) { at(unknowns_, unknowns_) += value; }

  /// Solves for these unknowns, too. Call it after all add(). Unknowns that no call has named are 0.
  void solve(const std::vector<std::size_t>& unknowns) {
    constexpr double kDetermined = 1e-9;  // relative to the pivot's own sum of squares
    for (auto i = first_.size(); i < unknowns_; ++i) first_.push_back(at(i, i));
    for (const auto k : unknowns) {
      const double pivot = at(k, k);
      if (solved_[k] || !(pivot > kDetermined * first_[k])) continue;
      // The sweep of a symmetric matrix keeps it symmetric up to signs: every line is divided by the pivot.
      for (std::size_t i = 0; i <= unknowns_; ++i) {
        if (i == k) continue;
        const double factor = at(i, k) / pivot;
        if (factor == 0) continue;
        for (std::size_t j = 0; j <= unknowns_; ++j)
          if (j != k) at(i, j) -= factor * at(k, j);
        at(i, k) = -factor;
      }
      for (std::size_t j = 0; j <= unknowns_; ++j)
        if (j != k) at(k, j) /= pivot;
      at(k, k) = 1 / pivot;
      solved_[k] = true;
    }
  }

  /// Returns the sum of squares of the residuals, after solve().
  double residual() const { return at(unknowns_, unknowns_); }

 private:
  double& at(std::size_t i, std::size_t j) { return cells_[i * (unknowns_ + 1) + j]; }
  double at(std::size_t i, std::size_t j) const { return cells_[i * (unknowns_ + 1) + j]; }

  std::size_t unknowns_;
  std::vector<double> cells_;  ///< square, with y as its last line and column
  std::vector<double> first_;  ///< the diagonal before solve()
  std::vector<bool> solved_;
};

constexpr double kRounding = 1e-12;        ///< relative difference of numbers that count as equal
constexpr std::size_t kMostValues = 1500;  ///< limit for the values of all parameters; with more, the equations take minutes

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
  /// True if any value has a mean. Without means, a share would reflect the seeds as much as the parameter.
  static bool has_means(const Effects::Parameter& one) {
    return std::any_of(one.values.begin(), one.values.end(), [](const auto& value) { return std::isfinite(value.mean); });
  }

  /// Returns the indices of a parameter's unknowns in the equations, one for each value. Index 0 is the general mean.
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
      if (!has_means(all.parameters[p])) continue;
      auto without = mean;
      for (const auto q : levels_.others[p]) without.solve(unknowns_of(q));
      const double before = without.residual();
      without.solve(unknowns_of(p));
      all.parameters[p].share = std::clamp((before - without.residual()) / total, 0.0, 1.0);
    }
    if (std::none_of(all.parameters.begin(), all.parameters.end(), has_means)) return;
    auto everything = mean;
    for (std::size_t p = 0; p < levels_.of.size(); ++p) everything.solve(unknowns_of(p));
    all.rest = std::clamp(everything.residual() / total, 0.0, 1.0);
  }

  const Table& table_;
  const GridLevels& levels_;
  std::size_t metric_;
};

/// Returns the notes that a reader of the means needs.
std::vector<std::string> notes_of(const Table& table, const GridLevels& levels, const Effects& effects) {
  std::vector<std::string> notes{
      "means over n matched settings and seeds: all compared values have them, with all other parameters equal. "
      "The 95 % interval reflects how the values' differences vary over settings and seeds"};
  for (std::size_t p = 0; p < table.row_paths.size(); ++p)
    if (levels.is_chosen[p])
      notes.push_back(
          fmt::format("{} has one value for each setting of the others, like a value that dev chooses: other parameters are "
                      "not matched by it",
                      table.row_paths[p]));
  for (const auto& path : table.row_paths)
    for (const auto& own : table.row_paths)
      if (is_below(own, path)) notes.push_back(fmt::format("each value of {} is averaged over its {}", path, own));
  const auto& name = effects.metric.name;
  notes.push_back(
      effects.full ? fmt::format("{}: every combination of the values has a number ({} settings)", name, effects.settings)
                   : fmt::format("{}: {} settings have a number, not every combination of the values", name, effects.settings));
  if (const double rest = 100 * effects.rest; !std::isnan(rest))
    notes.back() += effects.full
                        ? fmt::format(
                              ". Importance is the main effect's share of the variance (functional ANOVA); interactions "
                              "and noise: {:.1f} %",
                              rest)
                        : fmt::format(
                              ". Importance is the share of the variance that a parameter explains beyond the others "
                              "(least squares, type II): shares need not add up. All parameters together leave {:.1f} %",
                              rest);
  int without = 0, trials = 0;
  const auto metric =
      static_cast<std::size_t>(std::find(table.metrics.begin(), table.metrics.end(), effects.metric) - table.metrics.begin());
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    trials += table.cell(r, metric, 0).trials;
    without += without_number(table.cell(r, metric, 0));
  }
  if (without > 0)
    notes.push_back(fmt::format("{}: {} of {} trials have no finite number (failed, diverged or not run): they are left out",
                                name, without, trials));
  return notes;
}

}  // namespace

std::vector<std::string> reference_conditions(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    const auto piece = text.substr(from, to - from);
    if (piece.find('=') == std::string::npos && !all.empty())
      all.back() += "," + piece;
    else
      all.push_back(piece);
    from = to + 1;
  }
  return all;
}

std::vector<Effects> effects_of(Table& table, const std::vector<std::string>& reference) {
  const GridLevels levels(table);
  std::vector<Effects> all;
  for (std::size_t m = 0; m < table.metrics.size(); ++m) all.push_back(SettingsMetric(table, levels, m).effects());
  if (!reference.empty()) fill_changes(table, reference, all);
  for (auto& effects : all) {
    auto notes = reference.empty() ? notes_of(table, levels, effects) : std::vector<std::string>();
    if (!reference.empty()) effects.notes.clear();  // these notes describe the means
    effects.notes.insert(effects.notes.begin(), notes.begin(), notes.end());
    effects.notes.insert(effects.notes.end(), table.notes.begin(), table.notes.end());
  }
  return all;
}

}  // namespace ablate::db
