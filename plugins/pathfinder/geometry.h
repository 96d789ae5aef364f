// Points and straight pieces in integers, so that every machine draws the same picture.
#pragma once

#include <cstdint>

namespace ablate::pathfinder {

inline constexpr std::int64_t kPixel = 256;       ///< units per pixel
inline constexpr std::int64_t kDirections = 256;  ///< directions per turn

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

/// Returns the point at a distance in a direction (kDirections per turn), rounded to the nearest unit.
Point moved(Point from, std::int64_t distance, std::int64_t direction);

/// Returns the distance of two points, rounded down to a unit.
std::int64_t distance(Point a, Point b);

/// True if a and b are less than `distance` apart. Coordinates must be below 2^16, and pieces shorter than 2^12.
bool is_near(Point a, Point b, std::int64_t distance);
bool is_near(Point a, const Piece& b, std::int64_t distance);
bool is_near(const Piece& a, const Piece& b, std::int64_t distance);

}  // namespace ablate::pathfinder
