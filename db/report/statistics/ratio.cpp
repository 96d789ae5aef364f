#include <cmath>

#include "db/report/reference_lines.h"
#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

double ratio(double value, double base) { return base == 0 ? kNoNumber : value / base; }

/// Replaces all means by their ratios to one row or column (reference_lines).
void add_ratios(const std::vector<std::string>& baseline, Table& table) {
  const auto base = reference_lines("--baseline", baseline, table);
  table.baseline = base.text;
  table.number = "ratio of means to " + base.text, table.spread = "its uncertainty";
  const auto means = table.cells;  // copied, because a reference cell changes, too
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto at = table.index_of(r, m, c), to_place = base.index_of(table, r, m, c);
        auto& cell = table.cells[at];
        const auto& to = means[to_place];
        auto& shown = cell.in_place.emplace(
            ShownNumber{ratio(cell.mean, to.mean), kNoNumber, 1, ratio(cell.published, to.published), "no ratio"});
        if (to_place != at && std::isfinite(cell.uncertainty) && std::isfinite(to.uncertainty))
          shown.uncertainty = std::abs(shown.value) * std::hypot(relative_uncertainty(cell), relative_uncertainty(to));
        cell.unsettled = cell.unsettled || to.unsettled;
        auto facts = statistics::ratio.blank;
        facts[0].value = shown.value, facts[1].value = shown.uncertainty, facts[2].value = shown.published;
        cell.facts.insert(cell.facts.end(), facts.begin(), facts.end());
      }
}

}  // namespace

const Statistic statistics::ratio{
    "baseline",
    "PATH=VALUE",
    true,
    "ratios to the row (or column) with this value, as attention=softmax; repeat it for more values",
    "",
    nullptr,
    add_ratios,
    1,
    {{.name = "ratio", .shown = Fact::Shown::kData, .before = "unsettled"},
     {.name = "ratio_uncertainty", .shown = Fact::Shown::kJson},
     {.name = "published_ratio", .shown = Fact::Shown::kData, .before = "unsettled"}}};

}  // namespace ablate::db
