// Work on several threads.
#include "ablate/parallel.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "tests/support/catch.h"

TEST_CASE("each part of the work is done once, on any number of threads") {
  const int threads = GENERATE(0, 1, 2, 7, 50);
  const std::size_t count = GENERATE(0, 1, 2, 500);
  std::vector<std::size_t> done(count);  // one number for each index, so that threads never write the same number
  std::atomic<std::size_t> times{0};
  ablate::parallel(count, threads, [&](std::size_t i) {
    done[i] += i;
    ++times;
  });
  CHECK(times == count);
  std::vector<std::size_t> expected(count);
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(done == expected);
}

TEST_CASE("if several parts fail, the first part's error is rethrown, after all started parts have ended") {
  const int threads = GENERATE(1, 2, 8);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> begun(100), ended(100);
    const auto work = [&](std::size_t i) {
      begun[i] = 1;
      if (i == 3) std::this_thread::yield();
      if (i >= 3) throw std::runtime_error(std::to_string(i));
      ended[i] = 1;
    };
    CHECK_THROWS_WITH(ablate::parallel(100, threads, work), "3");
    for (std::size_t i = 0; i < 3; ++i) CHECK(ended[i] == 1);
    CHECK(std::count(begun.begin(), begun.end(), 1) <= 3 + threads);
  }
}
