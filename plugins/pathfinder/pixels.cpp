#include "pixels.h"

#include <algorithm>

namespace ablate::pathfinder {
namespace {

constexpr std::int64_t kPoints = 4;  ///< points per side of a pixel
constexpr std::int64_t kBright = 255;

class Canvas {
 public:
  explicit Canvas(std::int64_t side) : side_(side / kPixel), pixels_(static_cast<std::size_t>(side_ * side_)) {}

  /// Fills the points that `covers` accepts in the rectangle between two corners.
  template <class Covers>
  void fill(Point low, Point high, std::int64_t grey, const Covers& covers) {
    const auto to_pixel = [&](std::int64_t place) { return std::clamp(place / kPixel, std::int64_t{0}, side_ - 1); };
    for (auto row = to_pixel(low.y); row <= to_pixel(high.y); ++row)
      for (auto column = to_pixel(low.x); column <= to_pixel(high.x); ++column) {
        std::int64_t covered = 0;
        for (std::int64_t y = 0; y < kPoints; ++y)
          for (std::int64_t x = 0; x < kPoints; ++x) covered += covers(Point{at(column, x), at(row, y)}) ? 1 : 0;
        auto& pixel = pixels_[static_cast<std::size_t>(row * side_ + column)];
        pixel = std::max(pixel, static_cast<std::uint8_t>(std::min(grey * covered / (kPoints * kPoints), kBright)));
      }
  }
  std::vector<std::uint8_t> take() { return std::move(pixels_); }

 private:
  static std::int64_t at(std::int64_t pixel, std::int64_t point) {
    return pixel * kPixel + (2 * point + 1) * kPixel / (2 * kPoints);
  }

  std::int64_t side_;
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

std::vector<std::uint8_t> to_pixels(const Drawing& drawing, const Form& form) {
  Canvas canvas(form.side);
  for (const auto& [line, contour] : drawing.paddles) {
    const auto [from, to] = line;
    const auto along = to - from;
    const auto length = dot(along, along), half = form.thickness / 2;
    canvas.fill({std::min(from.x, to.x) - half, std::min(from.y, to.y) - half},
                {std::max(from.x, to.x) + half, std::max(from.y, to.y) + half}, form.grey, [&](Point point) {
                  const auto place = dot(point - from, along), area = cross(along, point - from);
                  return place >= 0 && place <= length && area * area <= half * half * length;
                });
  }
  for (const auto circle : drawing.circles)
    canvas.fill({circle.x - form.radius, circle.y - form.radius}, {circle.x + form.radius, circle.y + form.radius}, kBright,
                [&](Point point) { return is_near(point, circle, form.radius); });
  return canvas.take();
}

}  // namespace ablate::pathfinder
