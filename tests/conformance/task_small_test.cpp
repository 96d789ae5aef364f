// A split of some thousands of examples is read completely, so that one fault among them is found.
#include <atomic>

#include "tests/conformance/task_digits.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Returns an index that a sample of 2000 indices would not contain.
std::int64_t index_unseen(const Recipe& recipe) {
  const auto drawn = drawn_indices(recipe.info, recipe.size, 2000);
  std::int64_t index = 1;
  while (std::ranges::binary_search(drawn, index)) ++index;
  return index;
}

}  // namespace

TEST_CASE("an invalid example among 5000, or an example that differs in each read") {
  auto recipe = digits();
  recipe.size = 5000;
  const auto odd = index_unseen(recipe);
  recipe.fill = [odd](Row& row, Split split, std::int64_t index, Random random) {
    fill(row, random, 10);
    if (split == Split::kDev && index == odd) row.id(3) = 10;
  };
  auto checks = checks_of(recipe);
  check_mentions(failed(checks), "example " + std::to_string(odd) + ": digit: id 10 at 3, expected below 10");
  std::atomic<std::int64_t> reads = 0;
  recipe.fill = [odd, &reads](Row& row, Split split, std::int64_t index, Random random) {
    fill(row, random, 10);
    if (split == Split::kTest && index == odd) row.id(3) = ++reads % 10;
  };
  checks = checks_of(recipe);
  CHECK(failing_of(checks) == Names{"repeatable, with 1 and 2 threads"});
  check_mentions(failed(checks), "example " + std::to_string(odd) + " differs in another instance");
}
