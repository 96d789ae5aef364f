// Improvement on dev at the end of a run.
#include "db/report/rising.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace ablate::db;

namespace {

using Points = std::vector<std::pair<std::int64_t, double>>;

/// Returns an evaluation at each tenth of 1,000 steps.
Points tenths(const std::vector<double>& values) {
  Points points;
  for (std::size_t i = 0; i < values.size(); ++i) points.emplace_back(100 * (i + 1), values[i]);
  return points;
}

}  // namespace

TEST_CASE("a curve rises if its last fifth is better than the fifth before by more than the noise") {
  // Means of 700 and 800, and of 900 and 1,000: 61 and 66. The noise is sqrt((2 + 2) / 2).
  const auto found = rising_of(tenths({1, 2, 3, 4, 5, 6, 60, 62, 65, 67}), "max", 1);
  CHECK(found.rising == Rising::kYes);
  CHECK(found.improvement == Approx(5));
  CHECK(found.noise == Approx(std::sqrt(2.0)));
  CHECK(rising_text(found) == "yes: by 5 in the last fifth of the steps, noise 1.4");
  CHECK(rising_of(tenths({1, 2, 3, 4, 5, 6, 60, 70, 61, 72}), "max", 1).rising == Rising::kNo);  // by 1.5, noise 7.4
  CHECK(rising_of(tenths({1, 2, 3, 4, 5, 6, 60, 62, 65, 67}), "min", 1).rising == Rising::kNo);
  CHECK(rising_of(tenths({9, 8, 7, 6, 5, 4, 3.1, 3, 2.1, 2}), "min", 0.5).rising == Rising::kYes);
}

TEST_CASE("a rise is reported as unknown if the learning rate anneals, or if evaluations are too few") {
  const auto rises = tenths({1, 2, 3, 4, 5, 6, 60, 62, 65, 67});
  CHECK(rising_of(rises, "max", 0.49).rising == Rising::kAnneals);
  CHECK(rising_text(rising_of(rises, "max", 0)) == "cannot tell: the rate anneals");
  CHECK(rising_of({}, "max", 1).rising == Rising::kTooFew);
  CHECK(rising_of({{250, 1}, {500, 2}, {750, 3}, {1000, 4}}, "max", 1).rising == Rising::kTooFew);
}
