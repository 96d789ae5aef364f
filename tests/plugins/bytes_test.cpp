// Random bytes: no example occurs twice, even if examples are short.
#include <set>

#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;

TEST_CASE("all examples differ, within and between splits") {
  const TemporaryFolder cache;
  for (const auto& [length, examples, seed] : {std::tuple{1, 85, 0}, {2, 20000, 3}, {2, 20000, 4}, {40, 1000, 0}}) {
    const auto task = load_task("bytes", {{"length", length}, {"examples", examples}, {"data_seed", seed}}, cache.path());
    std::set<std::vector<std::int64_t>> seen;
    std::int64_t ones = 0;
    bool in_range = true;
    for (const auto split : {Split::kTrain, Split::kDev, Split::kTest})
      for (const auto& example : read_examples(*task, split)) {
        seen.insert(example.ids);
        ones += example.label;
        const auto [least, most] = std::minmax_element(example.ids.begin(), example.ids.end());
        in_range = in_range && example.label >= 0 && example.label <= 1 && *least >= 1 && *most <= 256;
      }
    CHECK(in_range);
    CHECK(seen.size() == static_cast<std::size_t>(3 * examples));
    CHECK(std::abs(ones - 1.5 * examples) < 4 * std::sqrt(0.75 * examples));
  }
}

TEST_CASE("more examples than possible sequences are refused") {
  const TemporaryFolder cache;
  const auto made = [&] { make_task("bytes", {{"length", 1}, {"examples", 86}}, cache.path()); };
  check_mentions(message_of(made), {"256 different sequences of length = 1", "examples = 86"});
}
