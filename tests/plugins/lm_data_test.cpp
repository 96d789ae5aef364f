// The lm plugin on enwik8, if it exists.
#include <cmath>

#include "tests/plugins/task.h"

using namespace ablate;
using namespace ablate::tests;

TEST_CASE("enwik8 begins like Wikipedia's dump, and its splits have the statistics of text") {
  if (real_data("enwik8").empty()) return;
  const TemporaryFolder cache;
  const auto task = load_task("lm", {{"bytes", 10'000'000}, {"length", 1024}}, cache.path());
  CHECK(task->size(Split::kTrain) == 8'999'999);
  CHECK(task->size(Split::kDev) == 499'999);
  CHECK(task->size(Split::kTest) == 499'999);
  CHECK(task->describe(Split::kTrain, 0).find("<mediawiki xmlns=\"http://www.mediawiki.org/xml/export-0.3/\"") !=
        std::string::npos);
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) {
    std::vector<double> counts(256, 0);
    std::vector<std::int64_t> ids(1024), targets(1024);
    std::vector<std::uint8_t> present(1024), starts(1);
    const std::int64_t rows = 400;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t index = row * 1024;
      task->read(split, {&index, 1},
                 {.length = 1024,
                  .ids = {ids},
                  .reals = std::vector<std::span<float>>(1),
                  .present = {present},
                  .starts = starts,
                  .targets = targets});
      for (const auto id : ids) ++counts[static_cast<std::size_t>(id)];
    }
    double bits = 0;
    for (const auto count : counts)
      if (count > 0) bits -= count / (rows * 1024) * std::log2(count / (rows * 1024));
    CHECK(bits > 4.8);  // entropy of single bytes, in bits
    CHECK(bits < 5.4);
  }
}
