#include "db/report/column_digits.h"

namespace ablate::db {
namespace {

std::vector<Measured> column_numbers(const Table& table, std::size_t metric, std::size_t column, bool published) {
  const bool ratios = !table.baseline.empty();
  std::vector<Measured> all;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto& cell = table.cell(r, metric, column);
    if (published)
      all.push_back({ratios ? cell.published_ratio : cell.published});
    else if (ratios)
      all.push_back({cell.ratio, cell.ratio_uncertainty, 1});
    else
      all.push_back({cell.mean, cell.uncertainty, cell.n > 1 ? 2 : 1});  // a deviation is shown, a spread is not
  }
  return all;
}

Digits column_digits(const Table& table, std::size_t metric, std::size_t column, bool published) {
  return table.decimals ? Digits::fixed(*table.decimals) : Digits(column_numbers(table, metric, column, published));
}

}  // namespace

ColumnDigits::ColumnDigits(const Table& table, std::size_t metric, std::size_t column)
    : measured(column_digits(table, metric, column, false)), published(column_digits(table, metric, column, true)) {}

}  // namespace ablate::db
