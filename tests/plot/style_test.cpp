// Series differ in grey, and for colour-blind readers.
#include <cmath>

#include "tests/support/catch.h"
#include "tools/plot/canvas.h"

using namespace ablate;

namespace {

bool same(const Colour& a, const Colour& b) { return a.red == b.red && a.green == b.green && a.blue == b.blue; }

bool same(const std::vector<Place>& a, const std::vector<Place>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].x != b[i].x || a[i].y != b[i].y) return false;
  return true;
}

}  // namespace

TEST_CASE("without colour, any two of seven series differ in dash and marker, and neighbours also in luminance") {
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = series_style(i), b = series_style(j);
      INFO(i << ", " << j);
      CHECK(a.dash != b.dash);
      CHECK_FALSE(same(a.marker, b.marker));
      CHECK_FALSE(same(a.colour, b.colour));
      if (i == j + 1) CHECK(std::abs(a.colour.luminance() - b.colour.luminance()) > 0.06);
    }
}

TEST_CASE("with colour, 49 series differ as lines and as points") {
  for (std::size_t i = 0; i < 49; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = series_style(i), b = series_style(j);
      INFO(i << ", " << j);
      CHECK_FALSE((same(a.colour, b.colour) && a.dash == b.dash));
      CHECK_FALSE((same(a.colour, b.colour) && same(a.marker, b.marker)));
    }
}

TEST_CASE("a mark replaces the marker of a series, but neither colour nor dash") {
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t mark = 0; mark < 7; ++mark) {
      const auto by_style = series_style(i), by_mark = series_style(i, mark);
      CHECK(same(by_mark.colour, by_style.colour));
      CHECK((by_mark.dash == by_style.dash));
      CHECK(same(by_mark.marker, series_style(mark).marker));
    }
}

TEST_CASE("all colours are visible on white paper") {
  for (std::size_t i = 0; i < 7; ++i) CHECK(series_style(i).colour.luminance() < 0.7);
}

TEST_CASE("each colour of a heat map is lighter than the colour before it") {
  for (int i = 1; i <= 100; ++i) CHECK(heat_colour(i / 100.0).luminance() > heat_colour((i - 1) / 100.0).luminance());
}
