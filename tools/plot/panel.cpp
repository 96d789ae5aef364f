#include "tools/plot/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tools/plot/canvas.h"

namespace ablate {
namespace {

using db::FigureSeries;

struct PlacedName {
  std::string text;
  Box box;
};

constexpr double kAway = 1.5;  ///< gap between a marker and its name

/// Returns boxes around the straight pieces of staircases and error bars, which are vertical or horizontal.
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

/// Returns possible boxes of a name at a point, the best first: right, left, above, below, the corners.
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

/// Finds a place for each series' name at its first point: inside the axes, over no marker and no other name, over as few lines
/// as possible. Returns an empty list if one name finds no place. `at` maps values to positions.
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

constexpr double kBar = 7, kFree = 5, kTick = 2, kPad = 1.5;
constexpr int kMostBarTicks = 5;
constexpr int kSteps = 64;  ///< steps of colour in the bar
constexpr double kLightFrom = 0.5;
constexpr double kHatchStep = 4;  // points

Extent range_of(const db::FigureHeat& heat) {
  Extent range;
  for (const auto& line : heat.values)
    for (const double value : line) range.take(value);
  if (range.low == range.high) range = {range.low - 0.5, range.high + 0.5};
  return range;
}

/// Returns the number of decimals, at most 4, that shows the length of the range with two digits.
int decimals_of(const Extent& range) {
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(range.high - range.low))), 0, 4);
}

double widest(const std::vector<Tick>& ticks, Fonts& fonts) {
  double width = 0;
  for (const auto& tick : ticks) width = std::max(width, fonts.width(tick.text, kSmallSize));
  return width;
}

void draw_bar(Canvas& canvas, const Box& axes, const db::FigureHeat& heat, const Extent& range, Fonts& fonts) {
  const double x = axes.right() + kFree;
  for (int i = 0; i < kSteps; ++i) {
    const double top = axes.bottom() - axes.height * (i + 1) / kSteps;
    canvas.fill(Box{x, top, kBar, axes.height / kSteps + (i > 0 ? 0.3 : 0)}, heat_colour((i + 0.5) / kSteps));
  }
  const auto ticks = linear_ticks(range.low, range.high, kMostBarTicks);
  for (const auto& tick : ticks) {
    const double y = axes.bottom() - (tick.value - range.low) / (range.high - range.low) * axes.height;
    const Place mark[] = {{x + kBar, y}, {x + kBar + kTick, y}};
    canvas.line(mark, {kInk, 0.5});
    canvas.text({x + kBar + kTick + kPad, y}, tick.text, {.size = kSmallSize});
  }
  canvas.text({x + kBar + kTick + 2 * kPad + widest(ticks, fonts) + kTextSize / 2, axes.y + axes.height / 2},
              fonts.cut(heat.label, kTextSize, axes.height), {.size = kTextSize, .along = At::kMiddle, .upright = true});
}

void hatch(Canvas& canvas, const Box& cell) {
  canvas.clip(cell);
  const int lines = static_cast<int>(std::ceil((cell.width + cell.height) / kHatchStep));
  for (int line = 0; line < lines; ++line) {
    const double x = cell.x - cell.height + line * kHatchStep;
    const Place ends[] = {{x, cell.bottom()}, {x + cell.height, cell.y}};
    canvas.line(ends, {kGrey, 0.4});
  }
  canvas.unclip();
}

/// Width of the bar and its numbers, right of the axes.
double heat_bar_width(const db::FigureHeat& heat, Fonts& fonts) {
  const auto range = range_of(heat);
  return kFree + kBar + kTick + 2 * kPad + widest(linear_ticks(range.low, range.high, kMostBarTicks), fonts) + kTextSize + 1;
}

void draw_heat(Canvas& canvas, const Box& axes, const db::FigurePanel& panel, Fonts& fonts) {
  const auto range = range_of(panel.heat);
  const int decimals = decimals_of(range);
  const auto text_of = [&](double value) { return fmt::format("{:.{}f}", value, decimals); };
  const auto rows = static_cast<double>(panel.heat.values.size()), columns = static_cast<double>(panel.x.names.size());
  const double width = axes.width / columns, height = axes.height / rows;
  double widest_text = 0;
  for (const auto& line : panel.heat.values)
    for (const double value : line)
      if (std::isfinite(value)) widest_text = std::max(widest_text, fonts.width(text_of(value), kSmallSize));
  const bool numbers = widest_text + 2 * kPad <= width && kSmallSize + kPad <= height;
  for (std::size_t y = 0; y < panel.heat.values.size(); ++y)
    for (std::size_t x = 0; x < panel.heat.values[y].size(); ++x) {
      const double value = panel.heat.values[y][x];
      const Box cell{axes.x + static_cast<double>(x) * width, axes.bottom() - static_cast<double>(y + 1) * height, width,
                     height};
      if (!std::isfinite(value)) {
        hatch(canvas, cell);
        continue;
      }
      const auto colour = heat_colour((value - range.low) / (range.high - range.low));
      canvas.fill(cell, colour);
      if (numbers)
        canvas.text({cell.x + width / 2, cell.y + height / 2}, text_of(value),
                    {.size = kSmallSize, .colour = colour.luminance() < kLightFrom ? kPaper : kInk, .along = At::kMiddle});
    }
  draw_bar(canvas, axes, panel.heat, range, fonts);
}

constexpr double kTickLength = 2.5, kGap = 2.5;
constexpr double kTicksApart_x = 38, kTicksApart_y = 18;  ///< least distances
constexpr double kBandAlpha = 0.2;

bool is_line(const FigureSeries& series) {
  return series.shape == FigureSeries::Shape::kLine || series.shape == FigureSeries::Shape::kMarkedLine;
}

Extent range_of(const db::FigurePanel& panel, bool of_x) {
  Extent range;
  for (const auto& series : panel.series)
    for (const auto& point : series.points) {
      const auto values =
          of_x ? std::array{point.x, point.x_low, point.x_high} : std::array{point.y, point.y_low, point.y_high};
      for (const double value : values) range.take(value);
    }
  for (const double value : (of_x ? panel.x : panel.y).ticks) range.take(value);
  return range;
}

/// Share of the range that stays free at each side. Lines need almost none.
double side_margin(const db::FigurePanel& panel) {
  const bool lines = std::all_of(panel.series.begin(), panel.series.end(),
                                 [](const FigureSeries& series) { return series.shape == FigureSeries::Shape::kLine; });
  return lines ? 0.01 : 0.06;
}

}  // namespace

Panel::Panel(const db::FigurePanel& panel, Fonts& fonts)
    : panel_(panel),
      fonts_(fonts),
      x_(panel.x, range_of(panel, true), side_margin(panel)),
      y_(panel.y, range_of(panel, false), 0.05) {}

Place Panel::at(const Box& axes, double x, double y) const {
  return {axes.x + x_.share(x) * axes.width, axes.bottom() - y_.share(y) * axes.height};
}

std::vector<Tick> Panel::x_ticks(double width) {
  auto most = std::max(2, static_cast<int>(width / kTicksApart_x));
  auto ticks = x_.ticks(most);
  if (x_.has_names()) {  // vertical names need a line's height each
    const auto every = static_cast<std::size_t>(std::ceil(kSmallSize * static_cast<double>(ticks.size()) / width));
    std::erase_if(
        ticks, [&](const Tick& tick) { return static_cast<std::size_t>(tick.value) % std::max<std::size_t>(every, 1) != 0; });
    return ticks;
  }
  // A number that would overlap an earlier number is left out.
  double free = -1e9;
  std::erase_if(ticks, [&](const Tick& tick) {
    const double half = fonts_.width(tick.text, kSmallSize) / 2, middle = x_.share(tick.value) * width;
    if (middle - half < free) return true;
    free = middle + half + kGap;
    return false;
  });
  return ticks;
}

std::vector<Tick> Panel::y_ticks(double height) const {
  return y_.ticks(std::max(2, static_cast<int>(height / kTicksApart_y)));
}

/// True if names do not fit side by side and are written vertically.
bool Panel::x_upright(double width) {
  if (!x_.has_names()) return false;
  const double each = width / static_cast<double>(panel_.x.names.size()) - kGap;
  return std::any_of(panel_.x.names.begin(), panel_.x.names.end(),
                     [&](const std::string& name) { return fonts_.width(name, kSmallSize) > each; });
}

Margins Panel::margins(double width, double height, double longest) {
  Margins margins;
  double names = 0;
  for (const auto& tick : y_ticks(height)) names = std::max(names, fonts_.width(tick.text, kSmallSize));
  margins.left = std::min(names, longest) + kTickLength + 2 * kGap + kTextSize;
  double below = kSmallSize * kCapital;
  if (x_upright(width)) {
    below = 0;
    for (const auto& name : panel_.x.names) below = std::max(below, std::min(fonts_.width(name, kSmallSize), longest));
  }
  margins.below = kTickLength + kGap + below + kGap + kTextSize * kLineHeight;
  margins.above = panel_.title.empty() ? kSmallSize / 2 : kTextSize * kLineHeight + kGap;
  margins.right = 1;
  if (const auto ticks = x_ticks(width); !ticks.empty() && !x_.has_names())
    margins.right =
        std::max(margins.right, fonts_.width(ticks.back().text, kSmallSize) / 2 - (1 - x_.share(ticks.back().value)) * width);
  if (is_heat()) margins.right = std::max(margins.right, heat_bar_width(panel_.heat, fonts_));
  return margins;
}

void Panel::draw_x(Canvas& canvas, const Box& axes, double longest) {
  const bool upright = x_upright(axes.width);
  double deepest = kSmallSize * kCapital;
  for (const auto& tick : x_ticks(axes.width)) {
    const double x = axes.x + x_.share(tick.value) * axes.width, top = axes.bottom() + kTickLength + kGap;
    const Place mark[] = {{x, axes.bottom()}, {x, axes.bottom() + kTickLength}};
    canvas.line(mark, {kInk, 0.5});
    const auto text = upright ? fonts_.cut(tick.text, kSmallSize, longest) : tick.text;
    if (upright) deepest = std::max(deepest, fonts_.width(text, kSmallSize));
    canvas.text({x, upright ? top : top + kSmallSize * kCapital / 2}, text,
                {.size = kSmallSize, .along = upright ? At::kEnd : At::kMiddle, .upright = upright});
  }
  canvas.text({axes.x + axes.width / 2, axes.bottom() + kTickLength + 2 * kGap + deepest + kTextSize * kCapital / 2},
              fonts_.cut(panel_.x.label, kTextSize, axes.width), {.size = kTextSize, .along = At::kMiddle});
}

void Panel::draw_axes(Canvas& canvas, const Box& axes, double longest) {
  double widest = 0;
  for (const auto& tick : y_ticks(axes.height)) {
    const double y = axes.bottom() - y_.share(tick.value) * axes.height;
    if (!is_heat()) {
      const Place across[] = {{axes.x, y}, {axes.right(), y}};
      canvas.line(across, {kFaint, 0.4});
    }
    const Place mark[] = {{axes.x - kTickLength, y}, {axes.x, y}};
    canvas.line(mark, {kInk, 0.5});
    const auto text = fonts_.cut(tick.text, kSmallSize, longest);
    widest = std::max(widest, fonts_.width(text, kSmallSize));
    canvas.text({axes.x - kTickLength - kGap / 2, y}, text, {.size = kSmallSize, .along = At::kEnd});
  }
  draw_x(canvas, axes, longest);
  canvas.text({axes.x - kTickLength - 1.5 * kGap - widest - kTextSize / 2, axes.y + axes.height / 2},
              fonts_.cut(panel_.y.label, kTextSize, axes.height), {.size = kTextSize, .along = At::kMiddle, .upright = true});
  canvas.text({axes.x + axes.width / 2, axes.y - kGap - kTextSize / 2}, fonts_.cut(panel_.title, kTextSize, axes.width),
              {.size = kTextSize, .along = At::kMiddle});
  const Place frame[] = {{axes.x, axes.y}, {axes.x, axes.bottom()}, {axes.right(), axes.bottom()}};
  canvas.line(frame, {kInk, 0.5});
}

void Panel::draw_band(Canvas& canvas, const Box& axes, const FigureSeries& series) const {
  auto colour = series_style(series.style).colour;
  colour.alpha = kBandAlpha;
  std::vector<Place> low, high;
  const auto end = [&] {
    high.insert(high.end(), low.rbegin(), low.rend());
    if (high.size() >= 4) canvas.fill(high, colour);
    low.clear(), high.clear();
  };
  for (const auto& point : series.points)
    if (std::isfinite(point.y_low) && std::isfinite(point.y_high)) {
      low.push_back(at(axes, point.x, point.y_low));
      high.push_back(at(axes, point.x, point.y_high));
    } else {
      end();
    }
  end();
}

void Panel::draw_line(Canvas& canvas, const Box& axes, const FigureSeries& series) const {
  const bool stairs = series.shape == FigureSeries::Shape::kStaircase;
  const auto style = series_style(series.style);
  const Pen pen = stairs ? Pen{kGrey, 0.7, {2, 1.5}} : Pen{style.colour, kLine, style.dash};
  std::vector<Place> piece;
  const auto end = [&] {
    if (piece.size() > 1) canvas.line(piece, pen);
    piece.clear();
  };
  for (const auto& point : series.points)
    if (std::isfinite(point.x) && std::isfinite(point.y))
      piece.push_back(at(axes, point.x, point.y));
    else
      end();
  end();
}

void Panel::draw_points(Canvas& canvas, const Box& axes, const FigureSeries& series) const {
  const auto style = series_style(series.style, series.mark);
  for (const auto& point : series.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    const auto bar = [&](double x1, double y1, double x2, double y2) {
      if (!std::isfinite(x1 + y1 + x2 + y2)) return;
      const Place ends[] = {at(axes, x1, y1), at(axes, x2, y2)};
      canvas.line(ends, {style.colour, 0.7});
    };
    bar(point.x, std::isfinite(point.y_low) ? point.y_low : point.y, point.x,
        std::isfinite(point.y_high) ? point.y_high : point.y);
    bar(point.x_low, point.y, point.x_high, point.y);
    draw_marker(canvas, at(axes, point.x, point.y), style, point.hollow);
  }
}

bool Panel::names_fit(const Box& axes) {
  return !place_names(
              panel_, [&](double x, double y) { return at(axes, x, y); }, axes, fonts_)
              .empty();
}

void Panel::draw(Canvas& canvas, const Box& axes, bool names, double longest) {
  draw_axes(canvas, axes, longest);
  if (is_heat()) return draw_heat(canvas, axes, panel_, fonts_);
  canvas.clip({axes.x - 1, axes.y - 1, axes.width + 2, axes.height + 2});
  for (const auto& series : panel_.series)
    if (series.shape == FigureSeries::Shape::kLine) draw_band(canvas, axes, series);
  for (const auto& series : panel_.series)
    if (is_line(series) || series.shape == FigureSeries::Shape::kStaircase) draw_line(canvas, axes, series);
  canvas.unclip();
  for (const auto& series : panel_.series)
    if (series.shape == FigureSeries::Shape::kMarkedLine || series.shape == FigureSeries::Shape::kMarkers)
      draw_points(canvas, axes, series);
  if (!names) return;
  for (const auto& name : place_names(
           panel_, [&](double x, double y) { return at(axes, x, y); }, axes, fonts_))
    canvas.text({name.box.x, name.box.y + name.box.height / 2}, name.text, {.size = kSmallSize});
}

void draw_marker(Canvas& canvas, const Place& at, const SeriesStyle& style, bool hollow) {
  std::vector<Place> corners;
  for (const auto& [x, y] : style.marker) corners.push_back({at.x + kMarker * x, at.y + kMarker * y});
  canvas.fill(corners, hollow ? kPaper : style.colour);
  canvas.outline(corners, {hollow ? style.colour : kPaper, hollow ? 0.9 : 0.3});
}

}  // namespace ablate
