// Figure of a metric against its cost: one point per row, with the Pareto front (rows that no other row dominates).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/util/error.h"
#include "db/questions/figures/figures.h"
#include "db/questions/figures/parts.h"
#include "db/report/format.h"
#include "db/report/layout.h"

namespace ablate::db {
namespace {

/// Returns the metric for a short word of --x.
std::string cost_metric(const std::string& x) {
  if (x.empty() || x == "time") return "train/step_time";
  if (x == "memory") return "memory/peak_tensor";
  if (x == "state") return "memory/state";
  return x;
}

/// True if a is at least as good as b in x and in y, and better in x or in y.
bool dominates(const FigurePoint& a, const FigurePoint& b, bool low_x, bool low_y) {
  const double x = low_x ? b.x - a.x : a.x - b.x, y = low_y ? b.y - a.y : a.y - b.y;
  return x >= 0 && y >= 0 && (x > 0 || y > 0);
}

/// Marks the points behind the front, and adds the front as a staircase.
void add_front(FigurePanel& panel, bool low_x, bool low_y) {
  std::vector<FigurePoint> front;
  for (auto& series : panel.series) {
    auto& point = series.points.front();
    point.hollow = std::any_of(panel.series.begin(), panel.series.end(),
                               [&](const FigureSeries& other) { return dominates(other.points.front(), point, low_x, low_y); });
    if (!point.hollow) front.push_back({.x = point.x, .y = point.y});
  }
  if (front.size() < 2) return;
  std::sort(front.begin(), front.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  std::vector<FigurePoint> stairs;
  for (const auto& point : front) {
    // Between two points, the stairs have the worse y: the left point's y if a low x is good, else the right point's y.
    if (!stairs.empty())
      stairs.push_back(low_x ? FigurePoint{.x = point.x, .y = stairs.back().y}
                             : FigurePoint{.x = stairs.back().x, .y = point.y});
    stairs.push_back(point);
  }
  panel.series.insert(panel.series.begin(), {"", 0, FigureSeries::Shape::kStaircase, std::move(stairs)});
}

/// Looks of the rows. If exactly two parameters distinguish the rows, the first gives the colour and the second the marker.
struct Looks {
  struct Look {
    std::size_t style, mark = kMarkOfStyle;
  };
  std::vector<Look> of_row;
  std::vector<FigureKey> keys;  ///< empty unless two parameters distinguish the rows
};

/// Values of one parameter: the index of each row's value, and the first row of each value.
struct RowValues {
  std::vector<std::size_t> of_row, first;
};

RowValues row_values_of(const Table& table, std::size_t path) {
  RowValues values;
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto at = std::find(texts.begin(), texts.end(), table.rows[r][path]);
    values.of_row.push_back(static_cast<std::size_t>(at - texts.begin()));
    if (at != texts.end()) continue;
    texts.push_back(table.rows[r][path]);
    values.first.push_back(r);
  }
  return values;
}

Looks looks_of(const Table& table) {
  Looks looks;
  for (std::size_t r = 0; r < table.rows.size(); ++r) looks.of_row.push_back({r});
  std::vector<std::pair<std::size_t, RowValues>> varying;  // by path
  for (std::size_t p = 0; p < table.row_paths.size(); ++p)
    if (auto values = row_values_of(table, p); values.first.size() > 1) varying.emplace_back(p, std::move(values));
  const auto is_distinguishable = [](const auto& one) { return one.second.first.size() <= kFigureMarks; };
  if (varying.size() != 2 || !std::all_of(varying.begin(), varying.end(), is_distinguishable)) return looks;
  const auto &colours = varying[0].second, &marks = varying[1].second;
  for (std::size_t r = 0; r < table.rows.size(); ++r) looks.of_row[r] = {colours.of_row[r], marks.of_row[r]};
  for (const bool is_mark : {false, true}) {
    const auto& [path, values] = varying[is_mark ? 1 : 0];
    for (std::size_t i = 0; i < values.first.size(); ++i)
      looks.keys.push_back({value_name(table, values.first[i], path), i, is_mark});
  }
  return looks;
}

FigurePanel front_panel(const Table& table, const std::vector<Looks::Look>& looks, std::size_t column) {
  const auto &score = table.metrics[0], &cost = table.metrics[1];
  FigurePanel panel{.title = column_title(table, column), .x = {one_row(with_unit(cost))}, .y = {one_row(with_unit(score))}};
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto &y = table.cell(r, 0, column), &x = table.cell(r, 1, column);
    if (!std::isfinite(y.mean) || !std::isfinite(x.mean)) continue;
    const double up = y.half_width(), side = x.half_width();
    panel.series.push_back({.name = row_name(table, r),
                            .style = looks[r].style,
                            .shape = FigureSeries::Shape::kMarkers,
                            .points = {{.x = x.mean,
                                        .y = y.mean,
                                        .y_low = y.mean - up,
                                        .y_high = y.mean + up,
                                        .x_low = x.mean - side,
                                        .x_high = x.mean + side}},
                            .mark = looks[r].mark});
  }
  return panel;
}

Figure make_front(const Reader& reader, FigureRequest request) {
  const auto score = bare_table(reader, request.table);
  const auto cost = cost_metric(request.x);
  const auto name = score.metrics.front().name;
  if (score.metrics.size() > 1 && !request.table.metrics.empty())
    throw Error(fmt::format("--metric: found {} metrics, expected one metric to draw against the cost (--x {})",
                            score.metrics.size(), cost));
  if (name == cost) throw Error(fmt::format("--x: found {}, which is the metric itself; --metric names another metric", cost));
  request.table.metrics = {name, cost};
  const auto table = renamed(make_table(reader, request.table));
  if (table.metrics.size() != 2)
    throw Error(fmt::format("--x: found {}, which names {} metrics, expected one metric", cost, table.metrics.size() - 1));
  Figure figure{.names_at_points = true};
  figure.notes = table.notes;
  note_failures(table, figure);
  for (std::size_t m = 0; m < 2; ++m)
    for (auto& note : cell_notes(table, m)) figure.notes.push_back(std::move(note));
  const bool directed = !table.metrics[0].direction.empty() && !table.metrics[1].direction.empty();
  if (!directed) figure.notes.emplace_back("no front: one of the metrics has no direction");
  auto looks = looks_of(table);
  figure.keys = std::move(looks.keys);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    figure.panels.push_back(front_panel(table, looks.of_row, c));
    if (directed) add_front(figure.panels.back(), table.metrics[1].direction == "min", table.metrics[0].direction == "min");
  }
  figure.caption = "Means; bars: ± " + width_text(table) + ".";
  if (directed) figure.caption += " Line: the Pareto front of the means. Hollow: behind the front.";
  return figure;
}

}  // namespace

const FigureKind figures::front{
    "front", "a metric against its cost: one point per row, with the Pareto front",
    "front: time (default, of a step), memory (peak of tensors), state (of a recurrence), or a metric", make_front};

}  // namespace ablate::db
