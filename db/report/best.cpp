#include "db/report/best.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ablate::db {

void mark_best(Table& table, const std::vector<std::set<std::size_t>>& tasks) {
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    const auto& direction = table.metrics[m].direction;
    if (direction.empty()) continue;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      std::map<std::set<std::size_t>, std::vector<Cell*>> rivals;
      for (std::size_t r = 0; r < table.rows.size(); ++r) {
        const auto at = (r * table.metrics.size() + m) * table.columns.size() + c;
        if (!std::isnan(table.cells[at].mean)) rivals[tasks[at]].push_back(&table.cells[at]);
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

}  // namespace ablate::db
