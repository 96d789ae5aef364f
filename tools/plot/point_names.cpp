#include "tools/plot/point_names.h"

#include <algorithm>
#include <cmath>

#include "tools/plot/panel.h"

namespace ablate {
namespace {

using db::FigureSeries;

constexpr double kAway = 1.5;  ///< between a marker and its name

/// Boxes around the straight pieces of staircases and bars, which are upright or level.
std::vector<Box> lines_of(const db::FigurePanel& panel, const std::function<Place(double x, double y)>& at) {
  std::vector<Box> boxes;
  const auto add = [&](const Place& a, const Place& b) {
    if (std::isfinite(a.x + a.y + b.x + b.y))
      boxes.push_back({std::min(a.x, b.x) - 0.5, std::min(a.y, b.y) - 0.5, std::abs(a.x - b.x) + 1, std::abs(a.y - b.y) + 1});
  };
  for (const auto& series : panel.series)
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto& point = series.points[i];
      add(at(point.x, point.y_low), at(point.x, point.y_high));
      add(at(point.x_low, point.y), at(point.x_high, point.y));
      if (i > 0) add(at(series.points[i - 1].x, series.points[i - 1].y), at(point.x, point.y));
    }
  return boxes;
}

/// From the best on: right, left, above, below, the corners.
std::vector<Box> candidates(const Place& at, double width, double height) {
  const double off = kMarker + kAway, slant = kMarker * 0.8;
  const double right = at.x + off, left = at.x - off - width, middle = at.x - width / 2;
  const double above = at.y - off - height, below = at.y + off, level = at.y - height / 2;
  std::vector<Box> all;
  for (const auto& [x, y] : {std::pair(right, level), std::pair(left, level), std::pair(middle, above),
                             std::pair(middle, below), std::pair(at.x + slant, above + 1), std::pair(at.x + slant, below - 1),
                             std::pair(at.x - slant - width, above + 1), std::pair(at.x - slant - width, below - 1)})
    all.push_back({x, y, width, height});
  return all;
}

}  // namespace

std::vector<PlacedName> place_names(const db::FigurePanel& panel, const std::function<Place(double x, double y)>& at,
                                    const Box& axes, Fonts& fonts) {
  const auto lines = lines_of(panel, at);
  std::vector<Box> taken;
  for (const auto& series : panel.series)
    if (series.shape != FigureSeries::Shape::kStaircase)
      for (const auto& point : series.points) {
        const auto [x, y] = at(point.x, point.y);
        taken.push_back({x - kMarker, y - kMarker, 2 * kMarker, 2 * kMarker});
      }
  std::vector<PlacedName> names;
  for (const auto& series : panel.series) {
    if (series.name.empty() || series.points.empty()) continue;
    const auto& point = series.points.front();
    const Box* best = nullptr;
    long fewest = 0;
    const auto boxes = candidates(at(point.x, point.y), fonts.width(series.name, kSmallSize), kSmallSize);
    for (const auto& box : boxes) {
      const auto meets = [&](const Box& other) { return box.meets(other); };
      if (!axes.holds(box) || std::any_of(taken.begin(), taken.end(), meets)) continue;
      const auto crossed = std::count_if(lines.begin(), lines.end(), meets);
      if (best == nullptr || crossed < fewest) best = &box, fewest = crossed;
    }
    if (best == nullptr) return {};
    taken.push_back(*best);
    names.push_back({series.name, *best});
  }
  return names;
}

}  // namespace ablate
