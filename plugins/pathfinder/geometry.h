// Points and straight pieces in whole numbers, so that every machine draws the same picture.
#pragma once

#include <cstdint>

namespace ablate::pathfinder {

inline constexpr std::int64_t kPixel = 256;       ///< units of a pixel
inline constexpr std::int64_t kDirections = 256;  ///< of a whole turn

/// x to the right, y down, from the picture's upper left corner, in units.
struct Point {
  std::int64_t x, y;
  bool operator==(const Point&) const = default;
};
inline constexpr Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
inline constexpr std::int64_t dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
inline constexpr std::int64_t cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }

/// A straight piece, not of length 0.
struct Piece {
  Point from, to;
};

/// The point at a distance in a direction, of which kDirections are a turn; to the nearest unit.
Point moved(Point from, std::int64_t distance, std::int64_t direction);

/// To the unit below.
std::int64_t distance(Point a, Point b);

/// Whether less than the distance is between them. Coordinates below 2^16, pieces shorter than 2^12.
bool is_near(Point a, Point b, std::int64_t distance);
bool is_near(Point a, const Piece& b, std::int64_t distance);
bool is_near(const Piece& a, const Piece& b, std::int64_t distance);

}  // namespace ablate::pathfinder
