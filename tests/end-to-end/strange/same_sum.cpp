// A task: do two sequences have equal sums modulo 3? Each id has a real number beside it. An example's slice
// is the sum of its first sequence modulo 3.
#include <random>
#include <stdexcept>

#include "ablate/task.h"

namespace {

constexpr std::int64_t kLength = 6, kIds = 3;

class SameSum final : public ablate::Task {
 public:
  explicit SameSum(const ablate::TaskContext&) {}
  ablate::TaskInfo info() override {
    return {.fields = {{"digit", kIds}, {"half", 0, 1}}, .sequences = 2, .length = kLength, .classes = 2, .slices = {"sum"}};
  }
  void load() override {}
  std::string digest() const override { return "same-sum 1"; }
  std::int64_t size(ablate::Split) const override { return 200; }
  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= size(split)) throw std::out_of_range("same-sum has 200 examples");
      std::mt19937_64 random(static_cast<std::uint64_t>(3 * indices[i] + static_cast<std::int64_t>(split)));
      std::int64_t sums[2] = {0, 0};
      for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t j = 0; j < kLength; ++j) {
          const auto digit = static_cast<std::int64_t>(random() % kIds);
          batch.ids[2 * s][i * kLength + j] = digit;
          batch.reals[2 * s + 1][i * kLength + j] = static_cast<float>(digit) / 2;
          sums[s] += digit;
        }
      batch.targets[i] = sums[0] % kIds == sums[1] % kIds ? 1 : 0;
      batch.slices[i] = sums[0] % kIds;
    }
  }
  std::string describe(ablate::Split, std::int64_t index) const override { return "pair " + std::to_string(index); }
};

}  // namespace

ABLATE_TASK(SameSum, {.id = "same-sum", .version = "1.0.0", .summary = "do two sequences have equal sums modulo 3?"})
