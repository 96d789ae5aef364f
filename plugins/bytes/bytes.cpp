// Random bytes at an exact length: nothing to learn, everything to measure. What an attention costs at n tokens depends on no
// data.
#include <algorithm>
#include <random>

#include "ablate/task.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("length", "1024", {1, 1048576}, "every sequence has this length: no padding", "tokens"),
    ablate::integer("examples", "256", {1, 10000000}, "sequences in each of train, dev and test", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "another seed, another data set"),
};

constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kClasses = 2;

class Bytes final : public ablate::Task {
 public:
  explicit Bytes(const ablate::TaskContext& context)
      : length_(context.parameters.integer("length")),
        examples_(context.parameters.integer("examples")),
        seed_(static_cast<std::uint64_t>(context.parameters.integer("data_seed"))) {}

  ablate::TaskInfo info() override { return {.vocabulary = kBytes + 1, .length = length_, .classes = kClasses}; }
  void load() override {}  // an example is a function of its index
  std::string digest() const override {
    return "bytes 1 " + std::to_string(length_) + " " + std::to_string(examples_) + " " + std::to_string(seed_);
  }
  std::int64_t size(ablate::Split) const override { return examples_; }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    auto id = batch.ids.begin();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      auto random = generator(split, indices[i]);
      batch.labels[i] = static_cast<std::int64_t>(random() % kClasses);
      for (std::int64_t j = 0; j < length_; ++j) *id++ = 1 + static_cast<std::int64_t>(random() % kBytes);
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    constexpr std::int64_t kShown = 32;
    auto random = generator(split, index);
    std::string text = "label " + std::to_string(random() % kClasses) + ":";
    for (std::int64_t j = 0; j < std::min(length_, kShown); ++j) text += " " + std::to_string(random() % kBytes);
    return text + (length_ > kShown ? " ..." : "");
  }

 private:
  std::mt19937_64 generator(ablate::Split split, std::int64_t index) const {
    std::seed_seq mixed{seed_, static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index)};
    return std::mt19937_64(mixed);
  }

  std::int64_t length_, examples_;
  std::uint64_t seed_;
};

}  // namespace

ABLATE_TASK(Bytes, {.id = "bytes",
                    .version = "1.0.0",
                    .summary = "random bytes of one length, nothing to learn: for measuring cost",
                    .parameters = parameters})
