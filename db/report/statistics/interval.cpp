#include <fmt/format.h>

#include <cstdlib>

#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

/// "" for a number from 0 to 1000; else what is wrong.
std::string refuse_overlap(const std::string& text) {
  char* end = nullptr;
  const double overlap = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && *end == '\0' && overlap >= 0 && overlap <= 1000;
  return is_number ? "" : fmt::format("found {}, expected a number from 0 to 1000", text);
}

/// Half the 95 % interval of each mean, in place of the deviation.
void add_intervals(const std::vector<std::string>& values, Table& table) {
  table.overlap = std::strtod(values.back().c_str(), nullptr);
  for (auto& cell : table.cells) {
    cell.interval = interval_of({cell.n, cell.mean, cell.deviation}, *table.overlap);
    if (cell.n > 1) cell.uncertainty = cell.interval;
  }
}

}  // namespace

const Statistic statistics::interval{
    "interval",
    "OVERLAP",
    false,
    "after ± half the 95 % interval of the mean, by Student's t, in place of the deviation. OVERLAP: 0 for samples that are "
    "independent; of repeated splits of the same data a test split's size over a training split's",
    "baseline",
    refuse_overlap,
    add_intervals};

}  // namespace ablate::db
