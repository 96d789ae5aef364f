#include "tools/plot/style.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace ablate {
namespace {

constexpr Colour of_hex(unsigned hex) { return {(hex >> 16) / 255.0, (hex >> 8 & 255) / 255.0, (hex & 255) / 255.0}; }

/// Neighbours differ much in luminance.
constexpr std::array kColours = {of_hex(0x000000), of_hex(0xE69F00), of_hex(0x0072B2), of_hex(0xCC79A7),
                                 of_hex(0x009E73), of_hex(0x56B4E9), of_hex(0xD55E00)};
constexpr std::size_t kStyles = kColours.size();
static_assert(kStyles == db::kFigureMarks);

const std::array<std::vector<double>, kStyles> kDashes = {
    {{}, {4, 1.6}, {1.1, 1.3}, {6, 1.6, 1.1, 1.6}, {2.4, 1.2}, {8, 2.2}, {4.5, 1.3, 1.1, 1.3, 1.1, 1.3}}};

/// @param inner of every second corner, as far out as that; 1: a regular polygon
std::vector<Place> polygon(int corners, double turned, double inner = 1) {
  std::vector<Place> all;
  for (int i = 0; i < corners; ++i) {
    const double angle = turned + 2 * std::numbers::pi * i / corners, radius = i % 2 == 0 ? 1 : inner;
    all.push_back({radius * std::sin(angle), -radius * std::cos(angle)});
  }
  return all;
}

const std::array<std::vector<Place>, kStyles>& markers() {
  constexpr double kPi = std::numbers::pi;
  static const std::array<std::vector<Place>, kStyles> all = {
      polygon(24, 0),       polygon(4, kPi / 4),      polygon(3, 0), polygon(4, 0), polygon(3, kPi),
      polygon(10, 0, 0.45), polygon(8, kPi / 4, 0.35)};
  return all;
}

constexpr std::array kHeat = {of_hex(0x00224E), of_hex(0x1B386D), of_hex(0x434E6C), of_hex(0x626570), of_hex(0x7D7C78),
                              of_hex(0x9B9476), of_hex(0xBCAE6C), of_hex(0xDDC85A), of_hex(0xFEE838)};

}  // namespace

SeriesStyle series_style(std::size_t style, std::size_t mark) {
  const auto round = style / kStyles;
  if (mark == db::kMarkOfStyle) mark = style + 2 * round;
  return {kColours[style % kStyles], kDashes[(style + round) % kStyles], markers()[mark % kStyles]};
}

Colour heat_colour(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kHeat.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kHeat.size() - 2);
  const double part = at - static_cast<double>(below);
  const auto between = [&](double a, double b) { return a + part * (b - a); };
  const auto &a = kHeat[below], &b = kHeat[below + 1];
  return {between(a.red, b.red), between(a.green, b.green), between(a.blue, b.blue)};
}

}  // namespace ablate
