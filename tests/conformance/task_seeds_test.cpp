// Effects of another data_seed on examples, and of other parameter values on a digest.
#include <algorithm>
#include <numeric>

#include "tests/conformance/task_digits.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Returns a task that draws each example from the generator that `source` returns for the example's split, index and seed.
using Source = std::function<Random(Split split, std::int64_t index, std::int64_t seed)>;
Recipe digits_from(const Source& source) {
  auto recipe = digits();
  recipe.fill = [source](Row& row, Split split, std::int64_t index, Random random) {
    auto drawn = source(split, index, random.start());
    fill(row, drawn, 10);
  };
  return recipe;
}

}  // namespace

TEST_CASE("a split that does not depend on the seed, while the other splits do") {
  for (const auto& [split, name] : kSplits) {
    INFO(name);
    const auto recipe = digits_from([fixed = split](Split own, std::int64_t index, std::int64_t seed) {
      return Random(own, index, own == fixed ? 0 : seed);
    });
    const auto checks = checks_of(recipe);
    CHECK(failing_of(checks) == Names{"another seed"});
    check_mentions(said(checks, "another seed", name), std::string("1.000 of the examples of ") + name + " stay the same");
  }
  // In the first task, a third of dev does not depend on the seed. In the second, the seed changes only the order of train.
  CHECK(failing(digits_from([](Split split, std::int64_t index, std::int64_t seed) {
          return Random(split, index, split == Split::kDev && index % 3 == 0 ? 0 : seed);
        })) == Names{"another seed"});
  CHECK(failing(digits_from([](Split split, std::int64_t index, std::int64_t seed) {
          return split == Split::kTrain ? Random(split, (index + 7 * seed) % 400, 0) : Random(split, index, seed);
        })) == Names{"another seed"});
}

TEST_CASE("a seed that changes only the digest, and a seed that draws dev from examples of train") {
  const auto checks =
      checks_of(digits_from([](Split split, std::int64_t index, std::int64_t) { return Random(split, index, 0); }));
  check_mentions(said(checks, "another seed, another digest"), "the digest changes, but the examples stay the same");
  const auto pool = checks_of(digits_from([](Split split, std::int64_t index, std::int64_t seed) {
    return split == Split::kDev ? Random(Split::kTrain, (400 + index + 300 * (seed % 2)) % 1000, 0) : Random(split, index, 0);
  }));
  check_mentions(said(pool, "another seed", "dev"),
                 "with another data_seed 0.250 of dev are also in train, with this data_seed 0.000");
}

TEST_CASE("a training split with all possible examples, for any seed") {
  Recipe recipe;
  recipe.info = {.fields = {{.name = "bit", .vocabulary = 3}}, .length = 24, .train_length = 8, .classes = 2};
  recipe.size = 256;
  recipe.fill = [](Row& row, Split split, std::int64_t index, Random random) {  // train: all words of 8 bits
    const std::size_t length = split == Split::kTrain ? 8 : 24;
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < length; ++at) sum += row.id(at) = split == Split::kTrain ? index >> at & 1 : random.below(2);
    row.target() = sum % 2;
    row.end(length);
  };
  const auto checks = checks_of(recipe);
  CHECK(failed(checks) == "");
  check_mentions(said(checks, "another seed", "train"), "these may be all possible examples");
  recipe.info.fields[0].vocabulary = 6;
  recipe.size = 120;
  recipe.fill = [](Row& row, Split split, std::int64_t index, Random random) {  // train: all orders of 5 symbols
    const std::size_t length = split == Split::kTrain ? 5 : 24;
    std::int64_t order[5] = {0, 1, 2, 3, 4}, rises = 0;
    for (std::int64_t i = 0; i < index && split == Split::kTrain; ++i) std::ranges::next_permutation(order);
    for (std::size_t at = 0; at < length; ++at) row.id(at) = split == Split::kTrain ? order[at] : random.below(5);
    for (std::size_t at = 1; at < length; ++at) rises += row.id(at) > row.id(at - 1) ? 1 : 0;
    row.target() = rises % 2;
    row.end(length);
  };
  CHECK(failing(recipe).count("another seed") == 0);
}

namespace {

/// Task of random words. With a fault, two values of a parameter have the same digest. "others by the seed" is no fault: the
/// vocabulary depends on the seed.
class Worded final : public Task {
 public:
  explicit Worded(const TaskContext& context)
      : vocabulary_(context.parameters.integer("vocabulary")),
        share_(context.parameters.real("share")),
        seed_(context.parameters.integer("data_seed")),
        fault_(context.parameters.text("fault")) {}
  TaskInfo info() override {
    return {.fields = {{.name = "word", .vocabulary = 500 + (fault_ == "others by the seed" ? seed_ % 100 : 0)}},
            .length = 16,
            .classes = 2};
  }
  void load() override {}
  std::string digest() const override {
    auto vocabulary = vocabulary_;
    if (fault_ == "50 at least") vocabulary = std::max<std::int64_t>(vocabulary, 50);
    if (fault_ == "pairs") vocabulary = (vocabulary + 1) / 2;
    if (fault_ == "2 means the usual one" && vocabulary == 2) vocabulary = 50;
    if (fault_ == "the greatest means the usual one" && vocabulary == 90) vocabulary = 50;
    const auto share = fault_ == "nothing means the usual one" && share_ == 0 ? 0.5 : share_;
    const auto seed = fault_ == "32 bits of the seed" ? seed_ % (std::int64_t{1} << 32) : seed_;
    return std::to_string(vocabulary) + " " + std::to_string(share) + " " + std::to_string(seed);
  }
  std::int64_t size(Split) const override { return 150; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= size(split)) throw std::out_of_range("no such example");
      Random random(split, indices[i], seed_);
      for (std::size_t at = 0; at < 16; ++at)
        batch.ids[0][16 * i + at] = random.unit() < share_ ? 0 : random.below(vocabulary_);
      batch.targets[i] = random.below(2);
    }
  }
  std::string describe(Split, std::int64_t) const override { return "words"; }

 private:
  std::int64_t vocabulary_;
  double share_;
  std::int64_t seed_;
  std::string fault_;
};

constexpr Parameter kWordedParameters[] = {
    integer("vocabulary", "50", {2, 90}, "words"), real("share", "0.5", {0, 0.9}, "of the word 0"),
    integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"), text("fault", "\"\"", "", "the fault")};

std::vector<Check> worded(const std::string& fault) {
  auto plugin = detail::describe(
      Kind::kTask, About{.id = "worded", .version = "1.0.0", .summary = "words", .parameters = kWordedParameters});
  plugin.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Worded>(context); };
  return checks_of(plugin, {{"fault", fault}});
}

}  // namespace

TEST_CASE("a digest that equals the digest of another value: one less, the minimum, the maximum") {
  CHECK(failed(worded("")) == "");
  CHECK(failed(worded("others by the seed")) == "");
  for (const auto& [fault, value] : {std::pair{"50 at least", "vocabulary = 49"},
                                     {"pairs", "vocabulary = 49"},
                                     {"2 means the usual one", "vocabulary = 2 "},
                                     {"the greatest means the usual one", "vocabulary = 90"},
                                     {"nothing means the usual one", "share = 0.0"},
                                     {"32 bits of the seed", "data_seed = 4294967296"}}) {
    INFO(fault);
    const auto checks = worded(fault);
    CHECK(failing_of(checks) == Names{"other parameters, another digest"});
    check_mentions(said(checks, "other parameters, another digest"), std::string("with ") + value);
  }
}
