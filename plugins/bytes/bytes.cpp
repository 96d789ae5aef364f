// Random bytes at an exact length. There is nothing to learn: the task measures cost, because an attention's cost at n tokens
// does not depend on the data.
#include <algorithm>
#include <stdexcept>

#include "ablate/examples.h"
#include "ablate/random.h"
#include "ablate/task.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("length", "1024", {1, 1048576}, "every sequence has this length: no padding", "tokens"),
    ablate::integer("examples", "256", {1, 10000000}, "sequences in each of train, dev and test", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"),
};

constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kClasses = 2;
constexpr std::int64_t kSplits = 3;

class Bytes final : public ablate::Task {
 public:
  explicit Bytes(const ablate::TaskContext& context)
      : length_(context.parameters.integer("length")),
        examples_(context.parameters.integer("examples")),
        seed_(static_cast<std::uint64_t>(context.parameters.integer("data_seed"))) {
    std::int64_t different = 1;
    for (; named_ < length_ && different < kSplits * examples_; ++named_) different *= kBytes;
    if (different < kSplits * examples_)
      throw std::invalid_argument("bytes: only " + std::to_string(different) + " different sequences of length = " +
                                  std::to_string(length_) + " exist, but " + std::to_string(kSplits) +
                                  " splits need examples = " + std::to_string(examples_) + " each; increase length");
  }

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "byte", .vocabulary = kBytes + 1}}, .length = length_, .classes = kClasses};
  }
  void load() override {}  // an example is a function of its index
  std::string digest() const override {
    return "bytes 2 " + std::to_string(length_) + " " + std::to_string(examples_) + " " + std::to_string(seed_);
  }
  std::int64_t size(ablate::Split) const override { return examples_; }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    auto id = batch.ids[0].begin();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      Example example(*this, split, indices[i]);
      batch.targets[i] = example.label();
      for (std::int64_t j = 0; j < length_; ++j) *id++ = 1 + example.next();
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    constexpr std::int64_t kShown = 32;
    Example example(*this, split, index);
    std::string text = "label " + std::to_string(example.label()) + ":";
    for (std::int64_t j = 0; j < std::min(length_, kShown); ++j) text += " " + std::to_string(example.next());
    return text + (length_ > kShown ? " ..." : "");
  }

 private:
  /// One example, byte by byte: first the bytes of a unique number, so that no two examples are equal, then random bytes.
  class Example {
   public:
    /// Throws std::out_of_range if the split has no example with this index.
    Example(const Bytes& task, ablate::Split split, std::int64_t index) : named_(task.named_) {
      const auto number = ablate::place_of(index, task.examples_) * kSplits + static_cast<std::uint64_t>(split);
      random_ = ablate::generator(task.seed_, {number});
      label_ = static_cast<std::int64_t>(random_() % kClasses);
      // An odd factor permutes the numbers below any power of two, so names stay unique. The seed shifts the names.
      name_ = number * 0x9e3779b97f4a7c15u + task.seed_;
    }

    std::int64_t label() const { return label_; }
    std::int64_t next() {
      if (named_ == 0) return static_cast<std::int64_t>(random_() % kBytes);
      --named_;
      const auto byte = static_cast<std::int64_t>(name_ % kBytes);
      name_ /= kBytes;
      return byte;
    }

   private:
    std::mt19937_64 random_;
    std::int64_t named_, label_;
    std::uint64_t name_;
  };

  std::int64_t length_, examples_;
  std::int64_t named_ = 0;  ///< bytes that encode an example's number
  std::uint64_t seed_;
};

}  // namespace

ABLATE_TASK(Bytes, {.id = "bytes",
                    .version = "1.1.0",
                    .summary = "random bytes of one length, nothing to learn: for measuring cost",
                    .parameters = parameters})
