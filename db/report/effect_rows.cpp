#include "db/report/effect_rows.h"

#include <fmt/format.h>

#include <cmath>

#include "db/report/comparison_fields.h"
#include "db/report/digits.h"
#include "db/report/format.h"
#include "db/report/inference/holm.h"

namespace ablate::db {
namespace {

/// "71.20 [70.90, 71.50]"
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
      const bool is_below = difference.p_holm <= kLevel && rounds_to_zero(difference, digits);  // the digits
      all.rows.push_back({with_unit(effects.metric), path, from, to, with,
                          with_interval(digits, difference.value, difference.low, difference.high), difference.n,
                          difference.told == Comparison::Told::kTooFew ? p_text(difference) : p_text(difference.p_holm),
                          is_below ? "" : to_text(difference.told), difference.untested});
    } else
      all.rows.push_back({effects.metric.name, path, from, to, with, number_or_null(difference.value),
                          number_or_null(difference.low), number_or_null(difference.high), difference.n,
                          number_or_null(difference.p), number_or_null(difference.p_holm), to_text(difference.told),
                          difference.untested});
}

}  // namespace

NamedRows effect_rows(const std::vector<Effects>& all, bool for_people) {
  NamedRows rows;
  const bool changes = !all.empty() && !all.front().reference.empty();
  if (changes && for_people)
    rows.names = {"metric", "parameter", "from", "to", "with", "difference [95 %]", "n", "p (Holm)", "told", "why not known"};
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

}  // namespace ablate::db
