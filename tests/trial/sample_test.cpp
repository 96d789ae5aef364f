// Sample of a limited evaluation: the same examples for all trials, unrelated to the order of the split.
#include <algorithm>
#include <numeric>
#include <set>

#include "core/trial/training/training.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

using Indices = std::vector<std::int64_t>;

Indices first(std::int64_t count) {
  Indices all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Examples sorted by class, as in many data sets. Records the dev and test examples that are read.
class Ordered final : public Task {
 public:
  static constexpr std::int64_t kSize = 1200, kClasses = 3;

  TaskInfo info() override { return {.fields = {{"token", kClasses}}, .length = 4, .classes = kClasses}; }
  void load() override {}
  std::string digest() const override { return "ordered"; }
  std::int64_t size(Split) const override { return kSize; }
  std::string describe(Split, std::int64_t) const override { return ""; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    if (split != Split::kTrain) asked.insert(asked.end(), indices.begin(), indices.end());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto label = indices[i] * kClasses / kSize;
      for (std::size_t j = 0; j < 4; ++j) batch.ids[0][i * 4 + j] = label, batch.present[0][i * 4 + j] = 1;
      batch.targets[i] = label;
    }
  }

  mutable Indices asked;
};

/// Returns the examples that an evaluation reads after two steps of a trial.
Indices asked(Split split, const json& train, std::uint64_t seed = 1, const char* attention = "linear") {
  Ordered task;
  const auto resolved = resolved_trial(train, plugin(attention), seed);
  const TrialParts parts{trial_from_json(resolved), task, find_plugin};
  Training training(parts, at::kCPU);
  training.step(), training.step();
  task.asked.clear();
  training.evaluate(split);
  return task.asked;
}

}  // namespace

TEST_CASE("an evaluation of some batches reads the same examples in every trial, not the first examples") {
  const json some{{"batch", 20}, {"evaluate_batches", 15}, {"test_batches", 15}};
  const auto test = asked(Split::kTest, some);
  CHECK(test.size() == 300);
  CHECK(std::set(test.begin(), test.end()).size() == 300);
  CHECK(test != first(300));
  CHECK(asked(Split::kTest, some, 2) == test);
  CHECK(asked(Split::kTest, some, 2, "softmax") == test);
  CHECK(asked(Split::kDev, some, 3) == test);  // dev has as many examples as test
  // The batch size does not matter.
  CHECK(asked(Split::kTest, {{"batch", 50}, {"test_batches", 6}}) == test);
  // 100 of each class are expected, with a standard deviation of 7. The first 300 examples are all of the first class.
  for (std::int64_t label = 0; label < Ordered::kClasses; ++label) {
    const auto found =
        std::ranges::count_if(test, [&](auto index) { return index * Ordered::kClasses / Ordered::kSize == label; });
    CHECK(found > 70);
    CHECK(found < 130);
  }
}

TEST_CASE("a whole split is read in its order") {
  CHECK(asked(Split::kTest, {{"batch", 20}}) == first(Ordered::kSize));
  CHECK(asked(Split::kDev, {{"batch", 16}, {"evaluate_batches", 75}}) == first(Ordered::kSize));
  CHECK(asked(Split::kTest, {{"batch", 16}, {"test_batches", 900}}) == first(Ordered::kSize));
}

TEST_CASE("samples depend only on their size and the split's size, and are nested") {
  CHECK(sample_of(1000, 6) == Indices{70, 314, 528, 569, 772, 950});  // equal on every machine
  for (const std::int64_t size : {1, 7, 1000}) {
    CHECK(sample_of(size, 0).empty());
    CHECK(sample_of(size, size) == first(size));
    auto larger = sample_of(size, size);
    for (auto count = size - 1; count > 0; --count) {
      auto sample = sample_of(size, count);
      REQUIRE(static_cast<std::int64_t>(sample.size()) == count);
      REQUIRE(std::ranges::adjacent_find(sample, std::greater_equal()) == sample.end());
      REQUIRE(std::ranges::includes(larger, sample));
      larger = std::move(sample);
    }
  }
  CHECK(sample_of(1001, 6) != sample_of(1000, 6));
}
