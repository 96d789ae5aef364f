// my-method, a task: for now, the most frequent symbol in a random sequence. Put your data into load(). ablate/task.h states a
// task's contract, and `ablate check` tests it.
#include <algorithm>
#include <random>
#include <vector>

#include "ablate/digest.h"
#include "ablate/examples.h"
#include "ablate/task.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    // Sequences are long enough that no two examples are equal, so the splits share no example.
    ablate::integer("length", "64", {64, 65536}, "longest sequence; the shortest is half as long", "tokens"),
    ablate::integer("symbols", "4", {2, 64}, "different symbols"),
    ablate::integer("train", "2000", {1, 10000000}, "examples to train on", "examples"),
    ablate::integer("held_out", "500", {1, 10000000}, "examples in each of dev and test", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"),
};

class MyMethod final : public ablate::Task {
 public:
  explicit MyMethod(const ablate::TaskContext& context)
      : length_(context.parameters.integer("length")),
        symbols_(context.parameters.integer("symbols")),
        sizes_{context.parameters.integer("train"), context.parameters.integer("held_out"),
               context.parameters.integer("held_out")},
        seed_(static_cast<std::uint64_t>(context.parameters.integer("data_seed"))) {}

  ablate::TaskInfo info() override { return {.fields = {{"symbol", symbols_}}, .length = length_, .classes = symbols_}; }

  void load() override {
    // The generator returns the same numbers everywhere; std::uniform_int_distribution does not.
    std::mt19937_64 random(seed_);
    for (int split = 0; split < 3; ++split)
      for (std::int64_t i = 0; i < sizes_[split]; ++i) examples_[split].push_back(draw(random));
  }

  /// Returns a digest of the content of all splits.
  std::string digest() const override {
    ablate::Digest digest;
    for (const auto& examples : examples_) {
      digest.add(examples.size());
      for (const auto& [symbols, most] : examples) digest.add_column(symbols).add(most);
    }
    return digest.hex();
  }

  std::int64_t size(ablate::Split split) const override { return sizes_[static_cast<int>(split)]; }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto& [symbols, most] = at(split, indices[i]);
      std::ranges::copy(symbols, batch.ids[0].subspan(i * static_cast<std::size_t>(length_)).begin());
      ablate::end_row(batch, i, symbols.size());  // marks the rest as absent; an id there has no meaning
      batch.targets[i] = most;
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    std::string text;
    for (const auto symbol : at(split, index).first) text += std::to_string(symbol) + " ";
    return text + "-> " + std::to_string(at(split, index).second);
  }

 private:
  using Example = std::pair<std::vector<std::int64_t>, std::int64_t>;  // the symbols, and the most frequent one

  /// Draws until one symbol is more frequent than all others.
  Example draw(std::mt19937_64& random) const {
    for (;;) {
      const auto half = static_cast<std::uint64_t>(length_) / 2;
      std::vector<std::int64_t> symbols(half + random() % (half + 1)), counts(static_cast<std::size_t>(symbols_));
      for (auto& symbol : symbols) {
        symbol = static_cast<std::int64_t>(random() % counts.size());
        ++counts[static_cast<std::size_t>(symbol)];
      }
      const auto most = std::ranges::max_element(counts);
      if (std::ranges::count(counts, *most) == 1) return {std::move(symbols), most - counts.begin()};
    }
  }

  /// Throws std::out_of_range if there is no such example.
  const Example& at(ablate::Split split, std::int64_t index) const {
    return examples_[static_cast<int>(split)][ablate::place_of(index, size(split))];
  }

  std::int64_t length_, symbols_;
  std::int64_t sizes_[3];  // by split: train, dev, test
  std::uint64_t seed_;
  std::vector<Example> examples_[3];
};

}  // namespace

ABLATE_TASK(
    MyMethod,
    {.id = "my-method", .version = "0.1.0", .summary = "which symbol occurs most often", .paper = "", .parameters = parameters})
