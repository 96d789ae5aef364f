// A task with targets at some positions only: every fourth position asks for the symbol three positions before it.
#include <random>
#include <stdexcept>

#include "ablate/task.h"

namespace {

constexpr std::int64_t kLength = 16, kIds = 5, kExamples = 200;

class Echo final : public ablate::Task {
 public:
  explicit Echo(const ablate::TaskContext&) {}
  ablate::TaskInfo info() override {
    return {.fields = {{"symbol", kIds}},
            .length = kLength,
            .classes = kIds,
            .objective = ablate::Objective::kPositions,
            .causal = true};
  }
  void load() override {}
  std::string digest() const override { return "echo 1"; }
  std::int64_t size(ablate::Split) const override { return kExamples; }
  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= kExamples) throw std::out_of_range("echo has 200 examples");
      std::mt19937_64 random(static_cast<std::uint64_t>(3 * indices[i] + static_cast<std::int64_t>(split)));
      const auto row = i * kLength;
      for (std::size_t j = 0; j < kLength; ++j) {
        batch.ids[0][row + j] = static_cast<std::int64_t>(random() % kIds);
        if (j % 4 == 3) batch.targets[row + j] = batch.ids[0][row + j - 3];
      }
    }
  }
  std::string describe(ablate::Split, std::int64_t index) const override { return "example " + std::to_string(index); }
};

}  // namespace

ABLATE_TASK(Echo, {.id = "echo",
                   .version = "1.0.0",
                   .summary = "every fourth position asks for the symbol three positions before it"})
