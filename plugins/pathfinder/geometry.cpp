#include "geometry.h"

#include <array>
#include <cmath>
#include <numbers>

namespace ablate::pathfinder {
namespace {

constexpr int kShift = 14;

/// Sines of all directions, times 2^14. The last bit of std::sin depends on the machine, but none of these values is close
/// enough to a half to round differently.
const std::array<std::int64_t, kDirections>& sines() {
  static const auto table = [] {
    std::array<std::int64_t, kDirections> values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::llround(std::sin(2 * std::numbers::pi * static_cast<double>(i) / kDirections) * (1 << kShift));
    return values;
  }();
  return table;
}

std::int64_t part(std::int64_t distance, std::int64_t direction) {
  const auto sine = sines()[static_cast<std::size_t>(direction & (kDirections - 1))];
  return (distance * sine + (1 << (kShift - 1))) >> kShift;
}

bool cuts(const Piece& a, const Piece& b) {
  const auto side = [](const Piece& piece, Point point) { return cross(piece.to - piece.from, point - piece.from) > 0; };
  return side(a, b.from) != side(a, b.to) && side(b, a.from) != side(b, a.to);
}

}  // namespace

Point moved(Point from, std::int64_t distance, std::int64_t direction) {
  return {from.x + part(distance, direction + kDirections / 4), from.y + part(distance, direction)};
}

std::int64_t distance(Point a, Point b) {
  // Square roots are rounded alike on every machine, and squares of numbers up to 2^26 are exact in double.
  return static_cast<std::int64_t>(std::sqrt(static_cast<double>(dot(a - b, a - b))));
}

bool is_near(Point a, Point b, std::int64_t distance) { return dot(a - b, a - b) < distance * distance; }

bool is_near(Point a, const Piece& b, std::int64_t distance) {
  const auto along = b.to - b.from, to = a - b.from;
  const auto length = dot(along, along), place = dot(to, along);
  if (place <= 0) return is_near(a, b.from, distance);
  if (place >= length) return is_near(a, b.to, distance);
  const auto area = cross(along, to);
  // A far point is excluded first, because the square of its area could overflow.
  return std::abs(area) < (std::int64_t{1} << 31) && area * area < distance * distance * length;
}

bool is_near(const Piece& a, const Piece& b, std::int64_t distance) {
  return is_near(a.from, b, distance) || is_near(a.to, b, distance) || is_near(b.from, a, distance) ||
         is_near(b.to, a, distance) || cuts(a, b);
}

}  // namespace ablate::pathfinder
