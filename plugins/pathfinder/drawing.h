// The shapes of a picture: two long contours and some short ones, all made of successive paddles, and two circles (Linsley et
// al. 2018, with the sizes of the Long Range Arena).
#pragma once

#include <array>
#include <random>
#include <vector>

#include "geometry.h"

namespace ablate::pathfinder {

/// Sizes in units of 1 / kPixel pixels.
struct Form {
  std::int64_t side;  ///< side of the picture
  std::int64_t paddle, thickness;
  int grey;                     ///< grey of a pixel that a paddle covers wholly; pixels are limited to 255
  std::int64_t gap;             ///< between the ends of successive paddles
  std::int64_t clear;           ///< least distance to the middle lines of other paddles; visibly greater than `gap`
  std::int64_t radius;          ///< radius of a circle
  std::int64_t apart;           ///< distance between the first ends of the two long contours
  int contour;                  ///< paddles of a long contour
  int distractor, distractors;  ///< paddles of a short contour, and the greatest number of short contours
};

/// Throws std::invalid_argument if the side is not 32, 64 or 128 pixels or the contour not 6, 9 or 14 paddles.
Form form_of(std::int64_t side, std::int64_t contour);

struct Paddle {
  Piece line;   ///< its middle line
  int contour;  ///< 0 and 1: the long contours; paddles of a contour are consecutive
};

struct Drawing {
  std::vector<Paddle> paddles;
  std::array<Point, 2> circles;  ///< their centres, each at an end of a long contour
};

/// Draws at random. `connected` is the label: true if both circles are on one contour. Only the second circle's position
/// depends on the label: the other end of the first circle's contour, or an end of the other contour.
Drawing draw(const Form& form, bool connected, std::mt19937_64& random);

}  // namespace ablate::pathfinder
