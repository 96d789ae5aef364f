#include "tools/plot/heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/plot/panel.h"

namespace ablate {
namespace {

constexpr double kBar = 7, kFree = 5, kTick = 2, kPad = 1.5;
constexpr int kMostBarTicks = 5;
constexpr int kSteps = 64;  ///< of the bar's colours
constexpr double kLightFrom = 0.5;
constexpr double kHatchStep = 4;  // points

Extent range_of(const db::FigureHeat& heat) {
  Extent range;
  for (const auto& line : heat.values)
    for (const double value : line) range.take(value);
  if (range.low == range.high) range = {range.low - 0.5, range.high + 0.5};
  return range;
}

/// Two digits of what the numbers differ by.
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

}  // namespace

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

}  // namespace ablate
