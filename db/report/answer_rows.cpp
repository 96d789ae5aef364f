#include "db/report/answer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "db/report/digits.h"
#include "db/report/format.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/power.h"
#include "db/report/layout.h"

namespace ablate::db {
namespace {

/// Returns "failed 1/3: diverged, no finite number 1/3".
std::string open_trials(const std::vector<Cell>& cells) {
  auto text = failure_text(cells.front());
  int without = 0;  // the metric that lacks the largest number of values counts
  for (const auto& cell : cells)
    without = std::max(without, static_cast<int>(std::count_if(cell.samples.begin(), cell.samples.end(),
                                                               [](const auto& one) { return !std::isfinite(one.value); })));
  if (without > 0) text += fmt::format("{}no finite number {}/{}", text.empty() ? "" : ", ", without, cells.front().trials);
  return text;
}

/// Returns "0.001 to 0.01 (x 10)".
std::string range_text(const RateWindow& window) {
  if (window.low == window.high) return window.low;
  auto text = fmt::format("{} to {}", window.low, window.high);
  if (std::isfinite(window.factor)) text += fmt::format(" (x {:.3g})", window.factor);
  return text;
}

std::vector<Digits> digits_of(const RateWindows& windows) {
  std::vector<Digits> digits;
  for (std::size_t m = 0; m < windows.metrics.size(); ++m) {
    std::vector<Measured> measured;
    for (const auto& window : windows.windows)
      for (const auto& point : window.points)
        if (const auto& cell = point.cells[m]; std::isfinite(cell.mean)) measured.push_back({cell.mean, cell.deviation});
    digits.emplace_back(measured);
  }
  return digits;
}

NamedRows readable_rows(const RateWindows& windows) {
  NamedRows all{.names = windows.label_paths, .rows = {}};
  all.names.insert(all.names.end(), {"parameter", "value"});
  for (const auto& metric : windows.metrics) all.names.push_back(with_unit(metric));
  all.names.insert(all.names.end(), {"n", "not done", "choice", "window"});
  const auto digits = digits_of(windows);
  for (const auto& window : windows.windows) {
    bool has_shown = false;
    for (const auto& point : window.points) {
      std::vector<nlohmann::json> row(window.labels.begin(), window.labels.end());
      row.insert(row.end(), {window.path, point.text});
      int n = 0;
      for (std::size_t m = 0; m < point.cells.size(); ++m) {
        const auto& cell = point.cells[m];
        row.emplace_back(std::isfinite(cell.mean) ? digits[m].text(cell.mean, cell.deviation) : kAbsent);
        n = std::max(n, cell.n);
      }
      const auto first = !has_shown && (point.within || !window.unknown.empty());
      has_shown = has_shown || first;
      row.insert(row.end(), {n, open_trials(point.cells), !point.chosen ? "" : window.edge ? "chosen, at the edge" : "chosen"});
      row.emplace_back(first ? window.unknown.empty() ? range_text(window) : fmt::format("{} ({})", kAbsent, window.unknown)
                             : std::string(point.within ? "within" : ""));
      all.rows.push_back(std::move(row));
    }
  }
  return all;
}

NamedRows data_rows(const RateWindows& windows) {
  NamedRows all{.names = windows.label_paths, .rows = {}};
  all.names.insert(all.names.end(), {"parameter", "value"});
  for (const auto& metric : windows.metrics)
    for (const auto* what : {"mean", "deviation", "n"}) all.names.push_back(fmt::format("{} {}", metric.name, what));
  for (const auto* name : {"trials", "not done", "chosen", "edge", "in window", "window low", "window high", "window factor",
                           "tolerance", "why no window"})
    all.names.emplace_back(name);
  for (const auto& window : windows.windows)
    for (const auto& point : window.points) {
      std::vector<nlohmann::json> row(window.labels.begin(), window.labels.end());
      row.insert(row.end(), {window.path, point.json.is_null() ? nlohmann::json(point.text) : nlohmann::json(point.json)});
      for (const auto& cell : point.cells)
        row.insert(row.end(), {number_or_null(cell.mean), number_or_null(cell.deviation), cell.n});
      row.insert(row.end(),
                 {point.cells.front().trials, open_trials(point.cells), point.chosen, point.chosen && window.edge, point.within,
                  window.low, window.high, number_or_null(window.factor), number_or_null(window.tolerance), window.unknown});
      all.rows.push_back(std::move(row));
    }
  return all;
}

/// Returns "71.20 [70.90, 71.50]".
std::string with_interval(const Digits& digits, double value, double low, double high) {
  if (!std::isfinite(value)) return kAbsent;
  if (!std::isfinite(low)) return digits.text(value);
  return fmt::format("{} [{}, {}]", digits.text(value), digits.text(low), digits.text(high));
}

Digits digits_of_means(const Effects& effects) {
  std::vector<Measured> measured;
  for (const auto& parameter : effects.parameters)
    for (const auto& value : parameter.values)
      if (std::isfinite(value.mean)) measured.push_back({value.mean, (value.high - value.low) / 2});
  return Digits(measured);
}

Digits digits_of_changes(const Effects& effects) {
  std::vector<Measured> measured;
  for (const auto& change : effects.changes)
    if (const auto& to = change.difference; std::isfinite(to.value)) measured.push_back({to.value, (to.high - to.low) / 2});
  return Digits(measured);
}

void put_values(const Effects& effects, bool for_people, NamedRows& all) {
  const auto digits = digits_of_means(effects);
  for (const auto& parameter : effects.parameters)
    for (const auto& value : parameter.values)
      if (for_people) {
        const bool first = &value == &parameter.values.front();
        const auto share = std::isfinite(parameter.share) ? fmt::format("{:.1f} %", 100 * parameter.share) : kAbsent;
        all.rows.push_back({with_unit(effects.metric), parameter.path, first ? share : "", value.text,
                            with_interval(digits, value.mean, value.low, value.high), value.n, value.without, value.unknown});
      } else {
        all.rows.push_back({effects.metric.name, parameter.path, number_or_null(parameter.share), nlohmann::json(value.json),
                            number_or_null(value.mean), number_or_null(value.low), number_or_null(value.high), value.n,
                            value.without, value.unknown});
      }
}

void put_changes(const Effects& effects, bool for_people, NamedRows& all) {
  const auto digits = digits_of_changes(effects);
  for (const auto& [path, from, to, with, difference] : effects.changes)
    if (for_people) {
      const bool is_below = difference.p_holm <= kLevel && digits.hide(difference.value);  // the difference shows as 0
      all.rows.push_back(
          {with_unit(effects.metric), path, from, to, with,
           with_interval(digits, difference.value, difference.low, difference.high), difference.n,
           difference.significance == Comparison::Significance::kTooFew ? "n too small" : p_text(difference.p_holm),
           is_below ? "" : to_text(difference.significance), difference.untested});
    } else
      all.rows.push_back({effects.metric.name, path, from, to, with, number_or_null(difference.value),
                          number_or_null(difference.low), number_or_null(difference.high), difference.n,
                          number_or_null(difference.p), number_or_null(difference.p_holm), to_text(difference.significance),
                          difference.untested});
}

constexpr double kMostEffect = 50;  ///< in deviations; a larger effect needs the same number of seeds

int seeds_needed(double difference, double deviation, double level, bool t_test) {
  return seeds_for(deviation == 0 ? kMostEffect : std::min(kMostEffect, std::abs(difference) / deviation), level, t_test);
}

/// `least`: difference that the present seeds find; NaN: unknown. `needed`: seeds that --difference needs; 0: unknown.
struct Power {
  double least = std::numeric_limits<double>::quiet_NaN();
  int needed = 0;
  std::string why;
};

Power power_of(const Comparison& to, std::optional<double> difference, double level, bool t_test) {
  if (to.significance == Comparison::Significance::kUntested && !to.untested.empty()) return {.why = to.untested};
  if (std::isnan(to.value)) return {.why = "nothing to compare"};
  if (!to.paired) return {.why = "fewer than two shared seeds"};
  Power power;
  power.least = least_effect(to.n, level, t_test) * to.deviation;
  if (std::isnan(power.least)) power.least = std::numeric_limits<double>::infinity();  // too few pairs and no deviation
  if (difference) power.needed = seeds_needed(*difference, to.deviation, level, t_test);
  if (!std::isfinite(power.least))
    power.why = fmt::format("exact test of {} pairs cannot reach the level; {} pairs can", to.n, seeds_for(kMostEffect, level));
  else if (!difference)
    power.why = "--difference sets the difference that the seeds must find";
  else if (power.needed == 0)
    power.why = "more than 10,000 seeds";
  return power;
}

std::vector<nlohmann::json> data_fields(const Comparison& to, const Power& power) {
  const auto count = [](int value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(nullptr); };
  return {count(to.n), number_or_null(to.value), number_or_null(to.deviation), number_or_null(power.least),
          count(power.needed)};
}

std::vector<nlohmann::json> readable_fields(const Comparison& to, const Power& power, const Digits& digits) {
  const auto known = [&](double value) { return std::isfinite(value) ? digits.text(value) : kAbsent; };
  const auto count = [](int value) { return value > 0 ? std::to_string(value) : kAbsent; };
  return {count(to.n), known(to.value), known(to.deviation), known(power.least), count(power.needed)};
}

}  // namespace

NamedRows window_rows(const RateWindows& windows, bool for_people) {
  return for_people ? readable_rows(windows) : data_rows(windows);
}

NamedRows effect_rows(const std::vector<Effects>& all, bool for_people) {
  NamedRows rows;
  const bool changes = !all.empty() && !all.front().reference.empty();
  if (changes && for_people)
    rows.names = {"metric", "parameter", "from",         "to",           "with", "difference [95 %]",
                  "n",      "p (Holm)",  "significance", "why not known"};
  else if (changes)
    rows.names = {"metric", "parameter", "from", "to",     "with",         "difference",   "low",
                  "high",   "n",         "p",    "p_holm", "significance", "why not known"};
  else if (for_people)
    rows.names = {"metric", "parameter", "importance", "value", "mean [95 %]", "n", "without number", "why not known"};
  else
    rows.names = {"metric", "parameter", "importance", "value", "mean", "low", "high", "n", "without number", "why not known"};
  for (const auto& effects : all) changes ? put_changes(effects, for_people, rows) : put_values(effects, for_people, rows);
  return rows;
}

NamedRows power_rows(const Table& table, std::optional<double> difference, bool for_people) {
  NamedRows all{.names = table.pairs.empty() ? table.row_paths : std::vector<std::string>{"first", "second"}};
  all.names.insert(all.names.end(), table.column_paths.begin(), table.column_paths.end());
  for (const auto* name : {"metric", "n", "difference", "deviation", "least told", "seeds needed", "why not known"})
    all.names.emplace_back(name);
  const double level = kLevel / std::max(table.comparisons, 1);
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    std::vector<std::pair<std::vector<nlohmann::json>, const Comparison*>> compared;  // by labels
    const auto add = [&](std::vector<nlohmann::json> labels, std::size_t column, const Comparison& to) {
      const bool leads =
          to.significance == Comparison::Significance::kBetter && std::isnan(to.value);  // the best of `--against best`
      if (leads || to.significance == Comparison::Significance::kReference ||
          to.significance == Comparison::Significance::kNone)
        return;
      labels.insert(labels.end(), table.columns[column].begin(), table.columns[column].end());
      compared.emplace_back(std::move(labels), &to);
    };
    for (std::size_t r = 0; r < table.rows.size() && table.pairs.empty(); ++r)
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        add({table.rows[r].begin(), table.rows[r].end()}, c, table.cell(r, m, c).comparison());
    for (const auto& contrast : table.pairs)
      if (contrast.metric == m)
        add({row_text(contrast.first), row_text(contrast.second)}, contrast.column, contrast.difference());
    std::vector<Measured> measured;
    for (const auto& [unused, to] : compared)
      if (std::isfinite(to->value)) measured.push_back({to->value, to->deviation});
    const Digits digits(measured);
    for (auto& [row, to] : compared) {
      const auto power = power_of(*to, difference, level, table.t_test);
      row.emplace_back(for_people ? with_unit(table.metrics[m]) : table.metrics[m].name);
      const auto fields = for_people ? readable_fields(*to, power, digits) : data_fields(*to, power);
      row.insert(row.end(), fields.begin(), fields.end());
      row.emplace_back(power.why);
      all.rows.push_back(std::move(row));
    }
  }
  return all;
}

}  // namespace ablate::db
