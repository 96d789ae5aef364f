// Drawings of the pathfinder plugin against a reference that follows contours from paddle to paddle. The reference reads
// neither a paddle's contour nor the label.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "ablate/random.h"
#include "plugins/pathfinder/drawing.h"
#include "plugins/pathfinder/pixels.h"
#include "tests/support/catch.h"

using namespace ablate::pathfinder;

namespace {

double length(double x, double y) { return std::sqrt(x * x + y * y); }
double between(Point a, Point b) { return length(static_cast<double>(a.x - b.x), static_cast<double>(a.y - b.y)) / kPixel; }

/// Returns the smallest distance between two pieces, from points all along them.
double between(const Piece& a, const Piece& b) {
  constexpr int kSteps = 24;
  const auto at = [](const Piece& piece, int i) {
    const double share = static_cast<double>(i) / kSteps;
    return std::pair{static_cast<double>(piece.from.x) + share * static_cast<double>(piece.to.x - piece.from.x),
                     static_cast<double>(piece.from.y) + share * static_cast<double>(piece.to.y - piece.from.y)};
  };
  double least = 1e9;
  for (int i = 0; i <= kSteps; ++i)
    for (int k = 0; k <= kSteps; ++k) {
      const auto [ax, ay] = at(a, i);
      const auto [bx, by] = at(b, k);
      least = std::min(least, length(ax - bx, ay - by) / kPixel);
    }
  return least;
}

/// True if two paddles belong to one contour: their ends are a gap apart.
bool are_neighbours(const Piece& a, const Piece& b, double gap) {
  for (const auto end : {a.from, a.to})
    for (const auto other : {b.from, b.to})
      if (between(end, other) < gap + 0.1) return true;
  return false;
}

/// Returns the paddles that can be reached from the paddle at a circle.
std::set<std::size_t> follow(const std::vector<Piece>& paddles, Point circle, double gap) {
  std::set<std::size_t> found;
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < paddles.size(); ++i)
    if (between(paddles[i].from, circle) < 0.1 || between(paddles[i].to, circle) < 0.1) left.push_back(i);
  REQUIRE(left.size() == 1);
  while (!left.empty()) {
    const auto at = left.back();
    left.pop_back();
    if (!found.insert(at).second) continue;
    for (std::size_t i = 0; i < paddles.size(); ++i)
      if (!found.contains(i) && are_neighbours(paddles[at], paddles[i], gap)) left.push_back(i);
  }
  return found;
}

}  // namespace

TEST_CASE("two circles are on one contour exactly if the label says so") {
  const std::int64_t side = GENERATE(32, 64, 128), contour = GENERATE(6, 9, 14);
  CAPTURE(side, contour);
  const auto form = form_of(side, contour);
  const auto gap = static_cast<double>(form.gap) / kPixel, clear = static_cast<double>(form.clear) / kPixel;
  std::size_t distractors = 0;
  constexpr int kDrawings = 60;
  for (int i = 0; i < kDrawings; ++i) {
    const bool connected = i % 2 == 1;
    auto random = ablate::generator(11, {static_cast<std::uint64_t>(i)});
    const auto drawing = draw(form, connected, random);
    std::vector<Piece> paddles;
    for (const auto& paddle : drawing.paddles) paddles.push_back(paddle.line);
    ablate::shuffle(paddles, random);
    const auto first = follow(paddles, drawing.circles[0], gap), second = follow(paddles, drawing.circles[1], gap);
    REQUIRE(std::ssize(first) == contour);
    REQUIRE(std::ssize(second) == contour);
    REQUIRE((first == second) == connected);
    if (!connected) REQUIRE(std::ranges::none_of(first, [&](std::size_t paddle) { return second.contains(paddle); }));

    REQUIRE(paddles.size() >= static_cast<std::size_t>(2 * contour));
    REQUIRE((paddles.size() - static_cast<std::size_t>(2 * contour)) % static_cast<std::size_t>(contour / 3) == 0);
    distractors += (paddles.size() - static_cast<std::size_t>(2 * contour)) / static_cast<std::size_t>(contour / 3);
    const auto radius = static_cast<double>(form.radius) / kPixel;
    REQUIRE(between(drawing.circles[0], drawing.circles[1]) > 2 * radius);
    for (const auto& paddle : paddles) {
      REQUIRE(between(paddle.from, paddle.to) * kPixel == Approx(static_cast<double>(form.paddle)).margin(1.5));
      for (const auto point : {paddle.from, paddle.to}) {
        REQUIRE(std::min(point.x, point.y) > form.radius);
        REQUIRE(std::max(point.x, point.y) < form.side - form.radius);
      }
    }
    for (std::size_t a = 0; a < paddles.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (!are_neighbours(paddles[a], paddles[b], gap)) REQUIRE(between(paddles[a], paddles[b]) > clear - 0.02);
  }
  CHECK(distractors > static_cast<std::size_t>(kDrawings * form.distractors * 3 / 4));
}

TEST_CASE("the label depends neither on the circles' positions nor on the amount of ink") {
  const std::int64_t side = GENERATE(32, 64, 128), contour = GENERATE(6, 9, 14);
  CAPTURE(side, contour);
  const auto form = form_of(side, contour);
  constexpr std::size_t kDrawings = 800;
  std::array<std::vector<double>, 2> distances, brightness, nearest;  ///< nearest: distance of the nearer circle to the middle
  for (std::size_t i = 0; i < kDrawings; ++i) {
    auto random = ablate::generator(3, {i});
    const auto drawing = draw(form, i % 2 == 1, random);
    distances[i % 2].push_back(between(drawing.circles[0], drawing.circles[1]));
    const Point middle{form.side / 2, form.side / 2};
    nearest[i % 2].push_back(std::min(between(drawing.circles[0], middle), between(drawing.circles[1], middle)));
    double sum = 0;
    for (const auto pixel : to_pixels(drawing, form)) sum += pixel;
    brightness[i % 2].push_back(sum);
  }
  // Without a dependence, the best threshold is right for half of the 800 examples. A few more are right by chance, and because
  // matched distances may differ by up to a tenth of the total length of a contour's paddles. If distances were not matched,
  // the threshold would be right for 77 % at 128 pixels and 6 paddles.
  for (auto* values : {&distances, &brightness, &nearest}) {
    auto &no = (*values)[0], &yes = (*values)[1];
    std::ranges::sort(no), std::ranges::sort(yes);
    double best = 0;
    for (const auto& side_of : {no, yes})
      for (const auto threshold : side_of) {
        const auto below = [&](const std::vector<double>& of) {
          return static_cast<double>(std::ranges::lower_bound(of, threshold) - of.begin());
        };
        const auto share = std::abs(below(no) - below(yes)) / static_cast<double>(kDrawings) + 0.5;
        best = std::max(best, share);
      }
    CHECK(best < 0.6);
  }
}

TEST_CASE("pixels show the drawing: paddles with flat ends, whole circles") {
  auto form = form_of(32, 14);
  const Drawing drawing{{{{{4 * kPixel, 4 * kPixel + kPixel / 2}, {6 * kPixel, 4 * kPixel + kPixel / 2}}, 0}},
                        {Point{20 * kPixel, 20 * kPixel}, Point{28 * kPixel, 10 * kPixel}}};
  const auto pixels = to_pixels(drawing, form);
  REQUIRE(pixels.size() == 1024);
  const auto at = [&](std::size_t row, std::size_t column) { return static_cast<int>(pixels[row * 32 + column]); };
  CHECK(at(4, 3) == 0);
  CHECK(at(4, 4) == 191);  // half a pixel of a paddle, at 1.5 times the brightness of white
  CHECK(at(4, 5) == 191);
  CHECK(at(4, 6) == 0);
  CHECK(at(3, 4) == 0);
  CHECK(at(5, 5) == 0);
  for (const std::size_t row : {19u, 20u})
    for (const std::size_t column : {19u, 20u}) CHECK(at(row, column) == 255);  // within the radius of 1.5
  double circle = 0;
  for (std::size_t row = 17; row < 23; ++row)
    for (std::size_t column = 17; column < 23; ++column) circle += at(row, column) / 255.0;
  CHECK(circle == Approx(3.14159 * 1.5 * 1.5).epsilon(0.06));  // each pixel is sampled at 16 points
}

TEST_CASE("paddles have the thickness and brightness of the Long Range Arena's builder, in pixels of the picture") {
  const auto [side, thickness, contrast] =
      GENERATE(std::tuple{32, 0.5, 1.5}, std::tuple{64, 1.0, 0.8}, std::tuple{128, 1.5, 0.9});
  const auto form = form_of(side, 14);
  const auto middle = 8 * kPixel + form.thickness / 2;  // the paddle's upper side is a border between rows
  const Drawing drawing{{{{{8 * kPixel, middle}, {8 * kPixel + form.paddle, middle}}, 0}},
                        {Point{26 * kPixel, 26 * kPixel}, Point{20 * kPixel, 26 * kPixel}}};
  const auto pixels = to_pixels(drawing, form);
  double column = 0;
  for (std::size_t row = 6; row < 12; ++row) column += pixels[row * static_cast<std::size_t>(side) + 8];
  CHECK(pixels[7 * static_cast<std::size_t>(side) + 8] == 0);
  CHECK(pixels[8 * static_cast<std::size_t>(side) + 8] == static_cast<int>(255 * contrast * std::min(thickness, 1.0)));
  CHECK(column == Approx(255 * contrast * thickness).margin(2));
}
