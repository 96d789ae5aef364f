#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "db/report/format.h"
#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

/// True if the settings in the cell have different seeds or, without seeds, different numbers of values.
bool is_over_unlike(const Cell& cell) {
  std::map<std::size_t, std::multiset<std::optional<std::int64_t>>> seeds;
  for (const auto& sample : cell.samples) seeds[sample.setting].insert(sample.seed);
  return !seeds.empty() &&
         (static_cast<int>(seeds.size()) < cell.settings ||
          std::any_of(seeds.begin(), seeds.end(), [&](const auto& one) { return one.second != seeds.begin()->second; }));
}

/// Fills number, mean and deviation of each cell's samples.
void add_deviations(const std::vector<std::string>&, Table& table) {
  std::vector<std::string> unlike;  // rows
  for (std::size_t at = 0; at < table.cells.size(); ++at) {
    auto& cell = table.cells[at];
    const auto summary = summary_over_settings(cell.samples, cell.settings);
    cell.n = summary.n, cell.mean = summary.mean, cell.deviation = cell.uncertainty = summary.deviation;
    if (cell.samples.size() == 1 && !std::isnan(cell.spread)) cell.uncertainty = std::abs(cell.mean) * cell.spread / 100;
    const auto row = row_text(table.rows[at / table.columns.size() / table.metrics.size()]);
    if (cell.settings > 1 && is_over_unlike(cell) && (unlike.empty() || unlike.back() != row)) unlike.push_back(row);
  }
  if (!unlike.empty())
    table.notes.push_back(fmt::format(
        "settings of a cell have different seeds or numbers of values; each setting has the same weight: {}", some_of(unlike)));
}

}  // namespace

const Statistic statistics::deviation{"", "", false, "", "", nullptr, add_deviations};

}  // namespace ablate::db
