#include "tools/plot/panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/plot/heat.h"
#include "tools/plot/point_names.h"

namespace ablate {
namespace {

using db::FigureSeries;

constexpr double kTickLength = 2.5, kGap = 2.5;
constexpr double kTicksApart_x = 38, kTicksApart_y = 18;  ///< at least
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

/// A line from end to end needs no room beside it.
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
  if (x_.has_names()) {  // of upright ones as many as have a line's height each
    const auto every = static_cast<std::size_t>(std::ceil(kSmallSize * static_cast<double>(ticks.size()) / width));
    std::erase_if(
        ticks, [&](const Tick& tick) { return static_cast<std::size_t>(tick.value) % std::max<std::size_t>(every, 1) != 0; });
    return ticks;
  }
  // Of numbers that would meet, the later ones go.
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

/// Names that do not fit side by side stand upright.
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
