// Positions of numbers on an axis.
#include "tests/support/catch.h"
#include "tools/plot/scale.h"

using namespace ablate;

namespace {

std::vector<std::string> texts(const std::vector<Tick>& ticks) {
  std::vector<std::string> all;
  for (const auto& tick : ticks) all.push_back(tick.text);
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("ticks are multiples of 1, 2 and 5 with the same decimals") {
  CHECK(texts(linear_ticks(0, 100, 5)) == Texts{"0", "50", "100"});
  CHECK(texts(linear_ticks(0, 100, 6)) == Texts{"0", "20", "40", "60", "80", "100"});
  CHECK(texts(linear_ticks(0.93, 1.11, 4)) == Texts{"0.95", "1.00", "1.05", "1.10"});
  CHECK(texts(linear_ticks(-0.3, 0.25, 6)) == Texts{"−0.3", "−0.2", "−0.1", "0", "0.1", "0.2"});
  CHECK(texts(linear_ticks(0, 2.1e6, 3)) == Texts{"0", "10⁶", "2·10⁶"});
  CHECK(texts(linear_ticks(73, 87, 3)) == Texts{"75", "80", "85"});
  for (const int most : {2, 3, 5, 9})
    for (const auto& [low, high] : {std::pair(0.0, 1.0), std::pair(3.2, 3.9), std::pair(-7.0, 900.0), std::pair(1e-7, 4e-7)}) {
      const auto ticks = linear_ticks(low, high, most);
      CHECK(ticks.size() <= static_cast<std::size_t>(most) + 1);
      CHECK_FALSE(ticks.empty());
      for (const auto& tick : ticks) CHECK((tick.value >= low - 1e-9 && tick.value <= high + 1e-9));
    }
}

TEST_CASE("logarithmic ticks are powers of ten, or multiples of one power of ten within a decade") {
  CHECK(texts(log_ticks(0.5, 2000, 8)) == Texts{"1", "10", "100", "1000"});
  CHECK(texts(log_ticks(1, 1e8, 5)) == Texts{"1", "100", "10000", "10⁶", "10⁸"});
  CHECK(texts(log_ticks(3, 30, 8)) == Texts{"5", "10", "20"});
  CHECK(texts(log_ticks(21, 48, 4)) == Texts{"30", "40"});
}

TEST_CASE("a scale has a margin, puts a single number in its middle, and has a tick for each name") {
  Extent range;
  for (const double value : {2.0, std::nan(""), 4.0}) range.take(value);
  const db::FigureAxis plain, log{.log = true}, names{.names = {"a", "b"}};
  const Scale scale(plain, range, 0.1);
  CHECK(scale.share(2) == Approx(0.1 / 1.2));
  CHECK(scale.share(4) == Approx(1.1 / 1.2));
  CHECK(Scale(plain, {5, 5}, 0.1).share(5) == Approx(0.5));
  CHECK(Scale(log, {1, 100}, 0).share(10) == Approx(0.5));
  CHECK(Scale(names, {}, 0).share(0) == Approx(0.25));
  CHECK(texts(Scale(names, {}, 0).ticks(9)) == Texts{"a", "b"});
}
