#include "db/report/power_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "db/report/comparison_fields.h"
#include "db/report/digits.h"
#include "db/report/format.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/power.h"

namespace ablate::db {
namespace {

constexpr double kMostEffect = 50;  ///< in deviations: from there on the exact test alone sets the number of seeds

int seeds_needed(double difference, double deviation, double level, bool t_test) {
  return seeds_for(deviation == 0 ? kMostEffect : std::min(kMostEffect, std::abs(difference) / deviation), level, t_test);
}

/// What so many seeds tell of one comparison; NaN and 0: not known.
struct Power {
  double least = std::numeric_limits<double>::quiet_NaN();
  int needed = 0;
  std::string why;
};

Power power_of(const Comparison& to, std::optional<double> difference, double level, bool t_test) {
  if (to.told == Comparison::Told::kUntested && !to.untested.empty()) return {.why = to.untested};
  if (std::isnan(to.value)) return {.why = "nothing to compare"};
  if (!to.paired) return {.why = "fewer than two seeds are shared"};
  Power power;
  power.least = least_effect(to.n, level, t_test) * to.deviation;
  if (std::isnan(power.least)) power.least = std::numeric_limits<double>::infinity();  // no deviation, too few for the test
  if (difference) power.needed = seeds_needed(*difference, to.deviation, level, t_test);
  if (!std::isfinite(power.least))
    power.why = fmt::format("the exact test of {} pairs cannot reach the level; {} can", to.n, seeds_for(kMostEffect, level));
  else if (!difference)
    power.why = "--difference names the one that seeds are needed for";
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

NamedRows power_rows(const Table& table, std::optional<double> difference, bool for_people) {
  NamedRows all{.names = table.contrasts.empty() ? table.row_paths : std::vector<std::string>{"first", "second"}};
  all.names.insert(all.names.end(), table.column_paths.begin(), table.column_paths.end());
  for (const auto* name : {"metric", "n", "difference", "deviation", "least told", "seeds needed", "why not known"})
    all.names.emplace_back(name);
  const double level = kLevel / std::max(table.comparisons, 1);
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    std::vector<std::pair<std::vector<nlohmann::json>, const Comparison*>> compared;  // by labels
    const auto add = [&](std::vector<nlohmann::json> labels, std::size_t column, const Comparison& to) {
      const bool leads = to.told == Comparison::Told::kBetter && std::isnan(to.value);  // the best of `--against best`
      if (leads || to.told == Comparison::Told::kReference || to.told == Comparison::Told::kNone) return;
      labels.insert(labels.end(), table.columns[column].begin(), table.columns[column].end());
      compared.emplace_back(std::move(labels), &to);
    };
    for (std::size_t r = 0; r < table.rows.size() && table.contrasts.empty(); ++r)
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        add({table.rows[r].begin(), table.rows[r].end()}, c, table.cell(r, m, c).against);
    for (const auto& contrast : table.contrasts)
      if (contrast.metric == m)
        add({row_text(contrast.first), row_text(contrast.second)}, contrast.column, contrast.difference);
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
