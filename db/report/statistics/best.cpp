#include <algorithm>
#include <cmath>
#include <map>

#include "db/report/statistics.h"

namespace ablate::db {
namespace {

/// Marks the best means of each column among cells with the same tasks, where there are at least two such cells.
void mark_best(const std::vector<std::string>&, Table& table) {
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    const auto& direction = table.metrics[m].direction;
    if (direction.empty()) continue;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      std::map<std::set<std::size_t>, std::vector<Cell*>> rivals;
      for (std::size_t r = 0; r < table.rows.size(); ++r) {
        auto& cell = table.cells[table.place(r, m, c)];
        if (!std::isnan(cell.mean)) rivals[cell.tasks].push_back(&cell);
      }
      for (auto& [unused, cells] : rivals) {
        if (cells.size() < 2) continue;
        const auto less = [](const Cell* a, const Cell* b) { return a->mean < b->mean; };
        const auto [least, most] = std::minmax_element(cells.begin(), cells.end(), less);
        const double best = direction == "max" ? (*most)->mean : (*least)->mean;
        for (auto* cell : cells) cell->best = cell->mean == best;
      }
    }
  }
}

}  // namespace

const Statistic statistics::best{"", "", false, "", "", nullptr, mark_best};

}  // namespace ablate::db
