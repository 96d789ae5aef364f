#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "db/report/format.h"
#include "db/report/statistics.h"

namespace ablate::db {
namespace {

/// Moves the `width` values of row order[i] to row i.
template <class T>
void arrange(const std::vector<std::size_t>& order, std::size_t width, std::vector<T>& values) {
  if (values.size() != order.size() * width || width == 0) return;
  std::vector<T> arranged;
  arranged.reserve(values.size());
  for (const auto row : order)
    for (std::size_t i = 0; i < width; ++i) arranged.push_back(std::move(values[row * width + i]));
  values = std::move(arranged);
}

void arrange_rows(const std::vector<std::size_t>& order, Table& table) {
  const auto columns = table.columns.size(), metrics = table.metrics.size();
  arrange(order, 1, table.rows);
  arrange(order, 1, table.row_values);
  arrange(order, columns * table.tuned_paths.size(), table.chosen);
  arrange(order, metrics * columns, table.cells);
  arrange(order, metrics, table.row_facts);
}

/// Sorts the best row first, judged by the first column, or by the average if there is one. Rows without a number come last.
void by_metric(std::size_t metric, Table& table, std::vector<std::size_t>& order) {
  const bool up = table.metrics[metric].direction == "min";
  const auto column = table.average ? table.columns.size() - 1 : 0;
  const auto key = [&](std::size_t row) { return table.cell(row, metric, column).shown().value; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double one = key(a), other = key(b);
    if (std::isnan(one) || std::isnan(other)) return !std::isnan(one) && std::isnan(other);
    return up ? one < other : one > other;
  });
}

/// Sorts by label_key; rows without the parameter come last.
void by_label(std::size_t path, const Table& table, std::vector<std::size_t>& order) {
  std::vector<std::pair<bool, LabelKey>> keys;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto& value = table.row_values[row][path];
    keys.emplace_back(value.is_null(),
                      label_key(table.rows[row][path], value.is_number() ? std::optional(value.get<double>()) : std::nullopt));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
}

void sort_rows(const std::vector<std::string>& values, Table& table) {
  const auto& asked = values.back();
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto metric =
      std::find_if(table.metrics.begin(), table.metrics.end(), [&](const auto& one) { return one.name == asked; });
  const auto path = std::find(table.row_paths.begin(), table.row_paths.end(), history_path(asked));
  if (metric != table.metrics.end()) {
    by_metric(static_cast<std::size_t>(metric - table.metrics.begin()), table, order);
  } else if (path != table.row_paths.end()) {
    by_label(static_cast<std::size_t>(path - table.row_paths.begin()), table, order);
  } else {
    auto names = table.row_paths;
    for (const auto& one : table.metrics) names.push_back(one.name);
    throw Error(fmt::format("--sort: found {}, expected a metric of the table or a parameter of its rows{}", asked,
                            hint(asked, names)));
  }
  arrange_rows(order, table);
}

}  // namespace

const Statistic statistics::sort{
    "sort",
    "NAME",
    false,
    "order of the rows: by a metric, the best row first, judged by the first column (with --average by the average); or by a "
    "parameter of the rows; default: the order of the study",
    "",
    nullptr,
    sort_rows};

}  // namespace ablate::db
