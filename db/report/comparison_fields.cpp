#include "db/report/comparison_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "db/report/column_digits.h"
#include "db/report/format.h"

namespace ablate::db {
std::string row_text(const std::vector<std::string>& labels) {
  std::vector<std::string> there;
  for (const auto& label : labels)
    if (label != kAbsent) there.push_back(label);
  return fmt::format("{}", fmt::join(there, " "));
}

bool rounds_to_zero(const Comparison& to, const Digits& digits) {
  return std::isfinite(to.value) && digits.text(to.value).find_first_of("123456789") == std::string::npos;
}

std::string told_mark(const Table& table, const Comparison& to, const Digits& digits) {
  const bool no_mark = rounds_to_zero(to, digits);
  switch (to.told) {
    case Comparison::Told::kBetter:
      return no_mark ? "" : "*";
    case Comparison::Told::kWorse:
      return no_mark ? "" : "-";
    case Comparison::Told::kNot:
      return table.against == kBest ? "=" : "";
    case Comparison::Told::kDiffers:
      return no_mark ? "" : "≠";
    case Comparison::Told::kTooFew:
    case Comparison::Told::kReference:
    case Comparison::Told::kUntested:
    case Comparison::Told::kNone:
      break;
  }
  return "";
}

std::string difference_text(const Comparison& to, const Digits& digits) {
  if (to.told == Comparison::Told::kReference) return "reference";
  if (std::isnan(to.value)) return to.told == Comparison::Told::kBetter ? "reference" : "";  // the best, told from the second
  if (std::isnan(to.low)) return digits.text(to.value);
  return fmt::format("{} [{}, {}]", digits.text(to.value), digits.text(to.low), digits.text(to.high));
}

std::string p_text(double p) {
  if (std::isnan(p)) return "";
  return p < 0.001 ? fmt::format("{:.1e}", p) : fmt::format("{:.2g}", p);
}

std::string p_text(const Comparison& to) { return to.told == Comparison::Told::kTooFew ? "n too small" : p_text(to.p); }

Block contrasts_of(const Table& table) {
  Block block{"contrasts", {{.text = "first"}, {.text = "second"}}, {}};
  for (const auto& path : table.column_paths) block.header.push_back({.text = path});
  if (table.metrics.size() > 1) block.header.push_back({.text = "metric"});
  for (const auto* name : {"difference", "p", "n"}) block.header.push_back(number(name));
  for (const auto& contrast : table.contrasts) {
    auto& row = block.rows.emplace_back();
    for (const auto* labels : {&contrast.first, &contrast.second}) row.push_back({.text = row_text(*labels)});
    for (const auto& label : table.columns[contrast.column]) row.push_back({.text = label});
    if (table.metrics.size() > 1) row.push_back({.text = with_unit(table.metrics[contrast.metric])});
    const auto& difference = contrast.difference;
    const auto digits = ColumnDigits(table, contrast.metric, contrast.column).measured;
    auto field = number(difference_text(difference, digits));
    field.told = told_mark(table, difference, digits);
    row.push_back(std::move(field));
    row.push_back(number(p_text(difference)));
    row.push_back(number(difference.n > 0 ? std::to_string(difference.n) : ""));
  }
  return block;
}

}  // namespace ablate::db
