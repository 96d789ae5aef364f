// my-method, a task: so far, which symbol occurs most often in a random sequence. Your data goes into load(); what a task has
// to keep to is in ablate/task.h, and `ablate check` tells whether it does.
#include <algorithm>
#include <random>
#include <vector>

#include "ablate/task.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    // So long that no two examples are the same: the splits share none.
    ablate::integer("length", "64", {64, 65536}, "longest sequence; the shortest is half as long", "tokens"),
    ablate::integer("symbols", "4", {2, 64}, "different symbols"),
    ablate::integer("train", "2000", {1, 10000000}, "examples to train on", "examples"),
    ablate::integer("held_out", "500", {1, 10000000}, "examples in each of dev and test", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "another seed, another data set"),
};

class MyMethod : public ablate::Task {
 public:
  explicit MyMethod(const ablate::TaskContext& context)
      : length_(context.parameters.integer("length")),
        symbols_(context.parameters.integer("symbols")),
        sizes_{context.parameters.integer("train"), context.parameters.integer("held_out"),
               context.parameters.integer("held_out")},
        seed_(static_cast<std::uint64_t>(context.parameters.integer("data_seed"))) {}

  /// Ids lie in [1, vocabulary): 0 is padding.
  ablate::TaskInfo info() override { return {.vocabulary = symbols_ + 1, .length = length_, .classes = symbols_}; }

  void load() override {
    // The generator's numbers are the same everywhere; those of std::uniform_int_distribution are not.
    std::mt19937_64 random(seed_);
    for (int split = 0; split < 3; ++split)
      for (std::int64_t i = 0; i < sizes_[split]; ++i) add_example(random, ids_[split], labels_[split]);
  }

  /// Names the content of all splits: FNV-1a over every number.
  std::string digest() const override {
    std::uint64_t hash = 14695981039346656037u;
    for (int split = 0; split < 3; ++split)
      for (const auto* numbers : {&ids_[split], &labels_[split]})
        for (const auto number : *numbers) hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211u;
    return std::to_string(hash);
  }

  std::int64_t size(ablate::Split split) const override { return sizes_[static_cast<int>(split)]; }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      batch.labels[i] = label(split, indices[i]);
      std::copy_n(first_id(split, indices[i]), length_, batch.ids.begin() + static_cast<std::int64_t>(i) * length_);
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto answer = label(split, index);
    std::string text;
    for (auto id = first_id(split, index), end = id + length_; id != end && *id != 0; ++id) text += std::to_string(*id) + " ";
    return text + "-> " + std::to_string(answer + 1);
  }

 private:
  /// Draws until one symbol is ahead of all others.
  void add_example(std::mt19937_64& random, std::vector<std::int64_t>& ids, std::vector<std::int64_t>& labels) const {
    for (;;) {
      std::vector<std::int64_t> drawn(static_cast<std::size_t>(length_)), counts(static_cast<std::size_t>(symbols_));
      const auto tokens = drawn.size() / 2 + random() % (drawn.size() / 2 + 1);
      for (std::size_t i = 0; i < tokens; ++i) {
        const auto symbol = random() % counts.size();
        ++counts[symbol];
        drawn[i] = static_cast<std::int64_t>(symbol) + 1;
      }
      const auto most = std::max_element(counts.begin(), counts.end());
      if (std::count(counts.begin(), counts.end(), *most) > 1) continue;
      ids.insert(ids.end(), drawn.begin(), drawn.end());
      labels.push_back(most - counts.begin());
      return;
    }
  }

  /// Throws std::out_of_range where there is no such example.
  std::int64_t label(ablate::Split split, std::int64_t index) const {
    return labels_[static_cast<int>(split)].at(static_cast<std::size_t>(index));
  }
  std::vector<std::int64_t>::const_iterator first_id(ablate::Split split, std::int64_t index) const {
    return ids_[static_cast<int>(split)].begin() + index * length_;
  }

  std::int64_t length_, symbols_;
  std::int64_t sizes_[3];  // by split: train, dev, test
  std::uint64_t seed_;
  std::vector<std::int64_t> ids_[3];     // by split, [size, length]; 0 after the last token
  std::vector<std::int64_t> labels_[3];  // by split, [size]
};

}  // namespace

ABLATE_TASK(
    MyMethod,
    {.id = "my-method", .version = "0.1.0", .summary = "which symbol occurs most often", .paper = "", .parameters = parameters})
