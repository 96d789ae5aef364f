// The transactions plugin on the Berka data, if they are present.
#include <array>

#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;

TEST_CASE("Berka: every account has one owner, and every split has both sources and genders") {
  const auto folder = real_data("berka");
  if (folder.empty()) return;
  const TemporaryFolder cache;
  for (int seed = 0; seed < 3; ++seed) {
    const auto task = load_task("transactions", {{"data", folder.string()}, {"split_seed", seed}}, cache.path());
    CHECK(task->size(Split::kTrain) + task->size(Split::kDev) + task->size(Split::kTest) == 1270);
    CHECK(task->size(Split::kTest) == 191);
    std::array<std::array<int, 2>, 2> counts{};  // by source and gender
    for (const auto split : {Split::kTrain, Split::kDev, Split::kTest})
      for (std::int64_t index = 0; index < task->size(split); ++index) {
        const auto text = task->describe(split, index);
        ++counts.at(text.find("(trans_to_1994") != std::string::npos ? 1 : 0)
              .at(text.find(" of a woman ") != std::string::npos);
      }
    // Counted with Python's csv module, independently of the plugin.
    CHECK((counts == std::array<std::array<int, 2>, 2>{{{133, 151}, {506, 480}}}));
  }
}
