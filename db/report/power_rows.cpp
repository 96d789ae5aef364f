#include "db/report/power_rows.h"

#include <algorithm>
#include <cmath>

#include "db/report/inference/holm.h"
#include "db/report/inference/power.h"

namespace ablate::db {
namespace {

nlohmann::json or_null(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

nlohmann::json seeds_needed(double difference, double deviation, double level) {
  if (!std::isfinite(difference) || !std::isfinite(deviation) || difference == 0) return nullptr;
  constexpr double kMost = 50;  // from there on the exact test alone sets the number
  const int count = seeds_for(deviation == 0 ? kMost : std::min(kMost, std::abs(difference) / deviation), level);
  return count == 0 ? nlohmann::json(nullptr) : nlohmann::json(count);
}

}  // namespace

PowerRows power_rows(const Table& table, std::optional<double> difference) {
  PowerRows all{.names = table.row_paths};
  all.names.insert(all.names.end(), table.column_paths.begin(), table.column_paths.end());
  for (const auto* name : {"metric", "n", "difference", "deviation", "least told", "seeds needed"})
    all.names.emplace_back(name);
  const double level = kLevel / std::max(table.comparisons, 1);
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto& to = table.cell(r, m, c).against;
        if (to.told == Comparison::Told::kReference || std::isnan(to.value)) continue;
        std::vector<nlohmann::json> row;
        for (const auto& label : table.rows[r]) row.emplace_back(label);
        for (const auto& label : table.columns[c]) row.emplace_back(label);
        row.emplace_back(table.metrics[m].name);
        row.emplace_back(to.n > 0 ? nlohmann::json(to.n) : nlohmann::json(nullptr));
        row.push_back(or_null(to.value));
        row.push_back(or_null(to.deviation));
        row.push_back(or_null(least_effect(to.n, level) * to.deviation));
        row.push_back(seeds_needed(difference.value_or(to.value), to.deviation, level));
        all.rows.push_back(std::move(row));
      }
  return all;
}

}  // namespace ablate::db
