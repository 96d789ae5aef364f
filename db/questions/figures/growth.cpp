// Figure of a cost against a length with logarithmic axes: one line per row, with its exponent.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/records/setting_paths.h"
#include "db/questions/figures/figures.h"
#include "db/questions/figures/parts.h"
#include "db/report/format.h"
#include "db/report/layout.h"
#include "db/report/statistics.h"

namespace ablate::db {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Returns the end of a bar if a logarithmic axis can show it, else NaN.
double above_zero(double value) { return value > 0 ? value : kNone; }

FigureSeries growth_line(const Table& table, std::size_t row, std::size_t metric, const std::vector<double>& sizes) {
  FigureSeries line{row_name(table, row), row, FigureSeries::Shape::kMarkedLine};
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    const auto& cell = table.cell(row, metric, c);
    if (!(sizes[c] > 0) || !(cell.mean > 0) || !std::isfinite(cell.mean)) continue;
    const double half = cell.half_width();
    line.points.push_back(
        {.x = sizes[c], .y = cell.mean, .y_low = above_zero(cell.mean - half), .y_high = above_zero(cell.mean + half)});
  }
  std::sort(line.points.begin(), line.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  const auto& text = table.row_facts[row * table.metrics.size() + metric].text;
  if (!text.empty()) line.tail = ", n^" + text;
  return line;
}

Figure make_growth(const Reader& reader, FigureRequest request) {
  if (request.table.columns.empty()) request.table.columns = {setting::kTaskLength};
  if (request.table.metrics.empty()) request.table.metrics = {"train/step_time"};
  auto table = make_table(reader, request.table);
  const auto sizes = column_sizes(table, "plot growth");
  if (table.row_facts.empty()) statistics::exponent.run({}, table);
  table = renamed(std::move(table));
  Figure figure;
  figure.notes = table.notes;
  note_failures(table, figure);
  std::set<double> ticks;
  for (const double size : sizes)
    if (size > 0) ticks.insert(size);
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    auto& panel = figure.panels.emplace_back();
    panel.x = {one_row(table.column_paths.front()), true, {ticks.begin(), ticks.end()}};
    panel.y = {one_row(with_unit(table.metrics[m])), true};
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      if (auto line = growth_line(table, r, m, sizes); !line.points.empty()) panel.series.push_back(std::move(line));
    for (auto& note : cell_notes(table, m)) figure.notes.push_back(std::move(note));
  }
  figure.caption = fmt::format("Both axes logarithmic. Bars: ± {}. n^e: least-squares slope of the means, in logarithms.",
                               width_text(table));
  return figure;
}

}  // namespace

const FigureKind figures::growth{"growth", "a cost against a column of numbers, in logarithms, with exponents", "",
                                 make_growth};

}  // namespace ablate::db
