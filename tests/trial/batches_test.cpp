// Rows of a task with short training examples and long test examples.
#include "core/trial/training/batches.h"

#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Examples of `trained` or `trained` - 1 tokens in training, else of 12 tokens. Only the last token has a target.
class ShortInTraining final : public Task {
 public:
  explicit ShortInTraining(std::int64_t trained = 5) : trained_(trained) {}
  TaskInfo info() override {
    return {.fields = {{"token", 4}},
            .length = 12,
            .train_length = 5,
            .classes = 2,
            .objective = Objective::kPositions,
            .causal = true};
  }
  void load() override {}
  std::string digest() const override { return "short in training"; }
  std::int64_t size(Split) const override { return 40; }
  std::string describe(Split, std::int64_t) const override { return ""; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto length = split == Split::kTrain ? trained_ - indices[row] % 2 : 12;
      const auto first = row * static_cast<std::size_t>(batch.length);
      for (std::int64_t i = 0; i < batch.length; ++i) {
        const auto place = first + static_cast<std::size_t>(i);
        if (i < length) batch.ids[0][place] = 1 + (indices[row] + i) % 3;
        batch.present[0][place] = i < length ? 1 : 0;
      }
      batch.targets[first + static_cast<std::size_t>(length - 1)] = indices[row] % 2;
    }
  }

 private:
  std::int64_t trained_;
};

}  // namespace

TEST_CASE("rows are cut behind their last token, and targets keep their positions") {
  ShortInTraining task;
  const BatchReader reader(task, task.info(), at::kCPU);
  const std::int64_t indices[] = {3, 4};
  const auto whole = reader.read(Split::kTrain, indices), batch = reader.read(Split::kTrain, indices, {.length = 5});
  CHECK(whole.fields.front().sizes() == at::IntArrayRef{2, 12});
  CHECK(batch.fields.front().sizes() == at::IntArrayRef{2, 5});
  CHECK(batch.fields.front().equal(whole.fields.front().narrow(1, 0, 5)));
  CHECK(batch.mask.equal(whole.mask.narrow(1, 0, 5)));
  CHECK(batch.targets.equal(whole.targets));
  CHECK((batch.asked[0].item().toLong() == 3 && batch.asked[1].item().toLong() == 5 + 4));
  CHECK((whole.asked[0].item().toLong() == 3 && whole.asked[1].item().toLong() == 12 + 4));
}

TEST_CASE("training reads rows of the task's train_length, and evaluation reads long rows") {
  const auto attention = plugin("softmax");
  CHECK(run({{"steps", 4}}, attention, 1, ShortInTraining()).failed == "");
  // A training example longer than train_length is an error, because only that length is read.
  const auto ran = run({{"steps", 4}}, attention, 1, ShortInTraining(7));
  CHECK(ran.failed.find("train_length = 5") != std::string::npos);
}
