// Search for the width at which a model has a given number, for example of parameters.
#include <algorithm>

#include "core/host/study/matching.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

using Widths = std::vector<std::int64_t>;

/// Result of a search, and the number of widths that it tried.
struct Searched {
  FoundWidth found;
  std::size_t counts = 0;
};

/// Searches for the width with the number `target`. `number` returns a width's number; `refuses` returns true if the
/// model refuses a width.
Searched search(
    const WidthRange& range, std::int64_t begin, std::int64_t target, const std::function<std::int64_t(std::int64_t)>& number,
    const std::function<bool(std::int64_t)>& refuses = [](auto) { return false; }) {
  Searched searched;
  Widths asked;
  searched.found = find_width(range, begin, target, [&](const Widths& widths) {
    std::vector<CountedWidth> all;
    for (const auto width : widths) {
      CHECK(width >= range.least);
      CHECK(width <= range.most);
      CHECK(std::find(asked.begin(), asked.end(), width) == asked.end());
      asked.push_back(width);
      all.push_back(refuses(width) ? CountedWidth{0, "heads do not divide it"} : CountedWidth{number(width), ""});
    }
    return all;
  });
  searched.counts = asked.size();
  CHECK(searched.counts <= kMostCounts);
  return searched;
}

std::int64_t cubic(std::int64_t width) { return 12 * width * width + 700 * width + width * width * width / 100; }

}  // namespace

TEST_CASE("the nearest of all widths is found from any start") {
  constexpr WidthRange kRange{1, 400};
  for (const std::int64_t begin : {1, 7, 128, 399, 400})
    for (const std::int64_t target : {1, 713, 5000, 123456, 200000, 2800000, 99999999}) {
      const auto [found, counts] = search(kRange, begin, target, cubic);
      std::int64_t best = kRange.least;
      for (auto width = kRange.least; width <= kRange.most; ++width)
        if (std::abs(cubic(width) - target) < std::abs(cubic(best) - target)) best = width;
      if (50 * std::abs(cubic(begin) - target) <= target) best = begin;  // a start within 2 % stays
      INFO(begin << " " << target << ": " << counts << " counts");
      CHECK(found.failed.empty());
      CHECK(found.width == best);
      CHECK(found.number == cubic(best));
      CHECK(counts <= 24);
    }
}

TEST_CASE("a width within 2 % is accepted, and a width further off is not") {
  const auto linear = [](std::int64_t width) { return 100 * width; };
  for (const auto& [begin, kept] : {std::pair<std::int64_t, bool>{102, true}, {98, true}, {103, false}, {97, false}}) {
    INFO(begin);
    CHECK(search({1, 400}, begin, linear(100), linear).found.width == (kept ? begin : 100));
  }
}

TEST_CASE("an exact number is found in few counts, and a setting that already has it is unchanged") {
  const auto linear = [](std::int64_t width) { return 1000 + 130 * width; };
  const auto [exact, counts] = search({0, 65536}, 128, linear(53), linear);
  CHECK(exact.width == 53);
  CHECK(exact.number == linear(53));
  CHECK(counts <= 12);
  const auto same = search({0, 65536}, 128, linear(128), linear);
  CHECK(same.found.width == 128);
  CHECK(same.counts <= 2);
}

TEST_CASE("a number that falls with the width is matched as well") {
  const auto falls = [](std::int64_t width) { return 100000 - 90 * width; };
  CHECK(search({1, 1000}, 10, falls(500) + 20, falls).found.width == 500);
  CHECK(search({1, 1000}, 900, falls(3), falls).found.width == 3);
}

TEST_CASE("a number that no width in the range reaches gets the nearest end of the range") {
  const auto linear = [](std::int64_t width) { return 5000 + 10 * width; };
  CHECK(search({0, 512}, 128, 100, linear).found.width == 0);
  CHECK(search({0, 512}, 128, 100000, linear).found.width == 512);
}

TEST_CASE("a width that the model refuses is no candidate") {
  const auto square = [](std::int64_t width) { return 8 * width * width; };
  const auto multiples = [](std::int64_t of) { return [=](std::int64_t width) { return width % of != 0; }; };
  CHECK(search({1, 8192}, 64, square(50), square, multiples(4)).found.width == 48);
  CHECK(search({1, 8192}, 64, square(50) + 900, square, multiples(4)).found.width == 52);
  CHECK(search({1, 8192}, 64, square(200), square, multiples(3)).found.width == 201);  // 64 itself is refused
  CHECK(search({1, 8192}, 64, square(70), square, [](auto width) { return width > 66; }).found.width == 66);
  const auto none = search({1, 8192}, 64, square(70), square, [](auto) { return true; });
  CHECK(none.found.failed == "found no width in [1, 8192] near 64 that the model accepts (heads do not divide it)");
}

TEST_CASE("a number that is constant or not monotonic is reported with the numbers found") {
  const auto constant = search({0, 65536}, 128, 900, [](auto) { return 700; }).found.failed;
  CHECK(constant.starts_with("found 700 at "));
  CHECK(constant.ends_with("expected a number that changes with the width"));
  const auto hill = [](std::int64_t width) { return 10000 - (width - 300) * (width - 300) / 10; };
  const auto turned = search({0, 65536}, 128, 100000, hill).found.failed;
  CHECK(turned.ends_with("expected a number that only grows or only falls with the width"));
  CHECK(turned.starts_with("found "));
}

TEST_CASE("a number that grows by steps is matched at the smallest width that has it") {
  const auto steps = [](std::int64_t width) { return 1000 + width / 50 * 100; };
  const auto [found, counts] = search({1, 4096}, 60, 1800, steps);
  CHECK(found.number == 1800);
  CHECK(found.width / 50 == 8);
}
