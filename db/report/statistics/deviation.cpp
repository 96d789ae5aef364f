#include <cmath>

#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

/// Number, mean and deviation of each cell's samples. Settings that differ are no repetitions: over them there is none.
void add_deviations(const std::vector<std::string>&, Table& table) {
  for (auto& cell : table.cells) {
    const auto summary = summary_of(cell.samples);
    cell.n = summary.n, cell.mean = summary.mean;
    if (cell.settings == 1) cell.deviation = cell.uncertainty = summary.deviation;
    if (cell.n == 1 && !std::isnan(cell.spread)) cell.uncertainty = std::abs(cell.mean) * cell.spread / 100;
  }
}

}  // namespace

const Statistic statistics::deviation{"", "", false, "", "", nullptr, add_deviations};

}  // namespace ablate::db
