// Figure of a metric over two parameters, as colours.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "db/questions/figures/figures.h"
#include "db/questions/figures/parts.h"
#include "db/report/format.h"
#include "db/report/layout.h"

namespace ablate::db {
namespace {

/// Chooses the parameters for rows and columns. The request need not name them if exactly two parameters vary.
void choose_sides(const Table& table, TableRequest& request) {
  auto paths = table.row_paths;
  paths.insert(paths.end(), table.column_paths.begin(), table.column_paths.end());
  const bool one_each = table.row_paths.size() == 1 && table.column_paths.size() == 1;
  const bool named = !request.rows.empty() || !request.columns.empty();
  if (!one_each && (paths.size() != 2 || named))
    throw Error(fmt::format(
        "plot heat: found rows by {} and columns by {}, expected one parameter each, as in --rows {} --cols {}",
        table.row_paths.empty() ? "none" : fmt::format("{}", fmt::join(table.row_paths, ", ")),
        table.column_paths.empty() ? "none" : fmt::format("{}", fmt::join(table.column_paths, ", ")),
        paths.empty() ? setting::kAttention : paths.front(), paths.size() < 2 ? setting::kLearningRate : paths.back()));
  request.rows = {paths[0]};
  request.columns = {paths[1]};
}

FigurePanel heat_panel(const Table& table, std::size_t metric) {
  FigurePanel panel{.title = table.metrics.size() > 1 ? one_row(with_unit(table.metrics[metric])) : "",
                    .x = {one_row(table.column_paths.front())},
                    .y = {one_row(table.row_paths.front())}};
  for (const auto& label : table.columns) panel.x.names.push_back(one_row(label.front()));
  bool any = false;
  std::vector<std::vector<double>> values;
  // The first row is at the top, as in a table, so it has the largest y.
  for (std::size_t r = table.rows.size(); r-- > 0;) {
    panel.y.names.push_back(one_row(table.rows[r].front()));
    auto& line = values.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      line.push_back(table.cell(r, metric, c).mean);
      any = any || std::isfinite(line.back());
    }
  }
  if (any) panel.heat = {one_row(with_unit(table.metrics[metric])), std::move(values)};
  return panel;
}

Figure make_heat(const Reader& reader, FigureRequest request) {
  choose_sides(bare_table(reader, request.table), request.table);
  const auto table = renamed(make_table(reader, request.table));
  Figure figure;
  figure.notes = table.notes;
  note_failures(table, figure);
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    figure.panels.push_back(heat_panel(table, m));
    for (auto& note : cell_notes(table, m))
      if (!note.starts_with("no bar")) figure.notes.push_back(std::move(note));
  }
  figure.caption = "Means over seeds. Hatched: no value.";
  return figure;
}

}  // namespace

const FigureKind figures::heat{"heat", "a metric over two parameters, as colours: rows by columns", "", make_heat};

}  // namespace ablate::db
