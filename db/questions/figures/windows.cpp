// Figure of a metric over all tried values of a tuned parameter: one line per row. The value that dev chose is marked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/util/error.h"
#include "db/questions/figures/figures.h"
#include "db/questions/figures/parts.h"
#include "db/questions/tables/rate_windows.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

std::string window_name(const RateWindow& window, const ShownNames& names) {
  std::vector<std::string> parts;
  for (const auto& label : window.labels)
    if (label != kAbsent) parts.push_back(shown_as(label, names));
  return parts.empty() ? "all trials" : one_row(fmt::format("{}", fmt::join(parts, ", ")));
}

/// True if all values are numbers above 0, as a logarithmic axis requires. Otherwise each value gets a separate position.
bool is_on_numbers(const std::vector<const RateWindow*>& windows) {
  for (const auto* window : windows)
    for (const auto& point : window->points)
      if (!point.number || !(*point.number > 0)) return false;
  return true;
}

/// Returns the rows' distinct values.
std::vector<std::string> value_names(const std::vector<const RateWindow*>& windows) {
  std::vector<std::string> names;
  for (const auto* window : windows)
    for (const auto& point : window->points)
      if (std::find(names.begin(), names.end(), point.text) == names.end()) names.push_back(point.text);
  return names;
}

FigureSeries window_line(const RateWindow& window, std::size_t metric, std::size_t style, const FigurePanel& panel,
                         const ShownNames& names) {
  FigureSeries line{window_name(window, names), style, FigureSeries::Shape::kMarkedLine};
  for (const auto& point : window.points) {
    const auto& cell = point.cells[metric];
    if (!std::isfinite(cell.mean)) continue;
    const auto at = std::find(panel.x.names.begin(), panel.x.names.end(), point.text);
    line.points.push_back({.x = panel.x.log ? *point.number : static_cast<double>(at - panel.x.names.begin()),
                           .y = cell.mean,
                           .y_low = cell.mean - cell.deviation,
                           .y_high = cell.mean + cell.deviation,
                           .hollow = !point.chosen});
  }
  std::sort(line.points.begin(), line.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return line;
}

FigurePanel window_panel(const std::vector<const RateWindow*>& windows, const RateWindows& all, std::size_t metric,
                         const ShownNames& names) {
  FigurePanel panel;
  panel.x = {one_row(shown_as(windows.front()->path, names)), is_on_numbers(windows)};
  if (panel.x.log) {
    std::set<double> ticks;
    for (const auto* window : windows)
      for (const auto& point : window->points) ticks.insert(*point.number);
    panel.x.ticks.assign(ticks.begin(), ticks.end());
  } else {
    panel.x.names = value_names(windows);
  }
  auto shown = all.metrics[metric];
  shown.name = shown_as(shown.name, names);
  panel.y.label = one_row(with_unit(shown));
  for (std::size_t i = 0; i < windows.size(); ++i)
    if (auto line = window_line(*windows[i], metric, i, panel, names); !line.points.empty())
      panel.series.push_back(std::move(line));
  return panel;
}

/// Returns the number of panels: one for the first metric, which is on dev, unless the request names metrics.
std::size_t panels_of(const RateWindows& all, const TableRequest& request) {
  return request.metrics.empty() ? 1 : all.metrics.size();
}

Figure make_windows(const Reader& reader, FigureRequest request) {
  const auto names = names_of(reader, request.table);
  request.table.statistics.clear();
  const auto all = rate_windows(reader, request.table, std::nullopt);
  Figure figure;
  figure.notes = all.notes;
  std::vector<std::string> paths;
  for (const auto& window : all.windows)
    if (std::find(paths.begin(), paths.end(), window.path) == paths.end()) paths.push_back(window.path);
  for (const auto& path : paths) {
    std::vector<const RateWindow*> windows;
    for (const auto& window : all.windows)
      if (window.path == path) windows.push_back(&window);
    for (std::size_t m = 0; m < panels_of(all, request.table); ++m)
      figure.panels.push_back(window_panel(windows, all, m, names));
    for (const auto* window : windows)
      if (!window->unknown.empty())
        figure.notes.push_back(fmt::format("{}, {}: no window: {}", window_name(*window, names), path, window->unknown));
      else if (window->edge)
        figure.notes.push_back(fmt::format("{}: dev chose the smallest or the largest {}", window_name(*window, names), path));
  }
  figure.caption = "Means over seeds; bars: ± standard deviation. Filled: the value that dev chose.";
  return figure;
}

}  // namespace

const FigureKind figures::windows{"windows", "a metric over the values of each tuned parameter: one line per row", "",
                                  make_windows};

}  // namespace ablate::db
