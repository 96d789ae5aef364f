#include <fmt/format.h>

#include "core/util/number_text.h"
#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

/// Returns "" for a number from 0 to 1000, else what is wrong.
std::string refuse_overlap(const std::string& text) {
  const auto overlap = parse_number(text);
  const bool is_number = overlap && *overlap >= 0 && *overlap <= 1000;
  return is_number ? "" : fmt::format("found {}, expected a number from 0 to 1000", text);
}

void add_intervals(const std::vector<std::string>& values, Table& table) {
  table.overlap = parse_number(values.back());
  table.spread = "half its 95 % interval";
  for (auto& cell : table.cells) {
    auto& fact = cell.facts.emplace_back(statistics::interval.blank.front());
    fact.value = interval_of({cell.n, cell.mean, cell.deviation}, *table.overlap);
    if (cell.n > 1) cell.uncertainty = std::get<double>(fact.value);
  }
}

}  // namespace

const Statistic statistics::interval{
    "interval",
    "OVERLAP",
    false,
    "shows half the 95 % interval of the mean (Student's t) after ±, instead of the deviation. OVERLAP is 0 for independent "
    "samples. For repeated splits of the same data it is the size of a test split divided by the size of a training split",
    "baseline",
    refuse_overlap,
    add_intervals,
    1,
    {{.name = "interval", .shown = Fact::Shown::kData, .before = "n"}}};

}  // namespace ablate::db
