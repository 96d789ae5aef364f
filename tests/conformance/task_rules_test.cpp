// Labels that follow different rules in different splits.
#include <numeric>

#include "tests/conformance/task_digits.h"

using namespace ablate;
using namespace ablate::tests;

TEST_CASE("another rule on test, or on train") {
  using Rule = std::int64_t (*)(Row & row, Random & random);
  const Rule count = [](Row& row, Random&) {
    std::int64_t total = 0;
    for (std::size_t at = 0; at < 12; ++at) total += row.id(at) < 3 ? 1 : 0;
    return std::int64_t{total > 3};
  };
  const Rule sum = [](Row& row, Random&) {
    std::int64_t total = 0;
    for (std::size_t at = 0; at < 12; ++at) total += row.id(at);
    return total % 2;
  };
  const Rule inverted = [](Row& row, Random&) {
    std::int64_t total = 0;
    for (std::size_t at = 0; at < 12; ++at) total += row.id(at);
    return 1 - total % 2;
  };
  const Rule shuffled = [](Row&, Random& random) { return random.below(2); };
  const Rule ends = [](Row& row, Random&) { return std::int64_t{row.id(0) == row.id(11)}; };
  auto recipe = digits();
  recipe.size = 1000;
  const auto found = [&](Rule train, Rule dev, Rule test) {
    recipe.fill = [=](Row& row, Split split, std::int64_t, Random random) {
      fill(row, random, 10);
      row.target() = (split == Split::kTrain ? train : split == Split::kDev ? dev : test)(row, random);
    };
    std::string on;
    for (const auto& check : checks_of(recipe))
      if (check.name == "one rule" && check.failed()) on += check.on.substr(0, check.on.find(',')) + "; ";
    return on;
  };
  CHECK(found(count, count, count) == "");
  CHECK(found(sum, sum, sum) == "");
  CHECK(found(sum, sum, inverted) == "dev; ");
  CHECK(found(count, count, shuffled) == "dev; ");
  CHECK(found(count, count, sum) == "dev; ");
  CHECK(found(sum, inverted, inverted) == "train; ");
  CHECK(found(sum, shuffled, sum) == "train; dev; ");
  CHECK(found(ends, ends, ends) == "");
}

TEST_CASE("another rule for targets at positions, for reals, for pairs") {
  Recipe recipe;
  recipe.info = {.fields = {{.name = "digit", .vocabulary = 10}},
                 .length = 16,
                 .classes = 10,
                 .objective = Objective::kPositions,
                 .causal = true};
  for (const int other : {0, 1}) {
    recipe.fill = [=](Row& row, Split split, std::int64_t, Random random) {
      for (std::size_t at = 0; at < 16; ++at) row.id(at) = random.below(10);
      for (std::size_t at = 4; at < 16; ++at) {
        const auto asked = row.id(at - (split == Split::kTest && other == 0 ? 4 : 3));
        row.target(at) = split == Split::kTest && other == 1 ? (asked + 1) % 10 : asked;
      }
    };
    check_fails(recipe, {"one rule"});
  }
  recipe.info = {.fields = {{.name = "size", .reals = 1}}, .length = 8, .classes = 2};
  recipe.fill = [](Row& row, Split split, std::int64_t, Random random) {
    double sum = 0;
    for (std::size_t at = 0; at < 8; ++at) sum += row.real(at) = static_cast<float>(random.unit() - 0.5);
    row.target() = (sum > 0) != (split == Split::kTest);
  };
  check_fails(recipe, {"one rule"});
  recipe.info = {.fields = {{.name = "digit", .vocabulary = 5}}, .sequences = 2, .length = 6, .classes = 2};
  recipe.fill = [](Row& row, Split split, std::int64_t, Random random) {
    std::int64_t sums[2] = {0, 0};
    for (std::size_t sequence = 0; sequence < 2; ++sequence)
      for (std::size_t at = 0; at < 6; ++at) sums[sequence] += row.id(at, sequence) = random.below(5);
    row.target() = (sums[0] + sums[1]) % 2 == (split == Split::kTest ? 1 : 0);
  };
  check_fails(recipe, {"one rule"});
}

TEST_CASE("another rule about counts: the reverse order of frequencies, the rarest symbol instead of the commonest") {
  constexpr std::int64_t kSymbols = 6;
  Recipe recipe;
  recipe.info = {.fields = {{.name = "symbol", .vocabulary = kSymbols + 1}},
                 .length = 60,
                 .classes = kSymbols,
                 .objective = Objective::kPositions,
                 .causal = true};
  for (const bool whole_order : {true, false})
    for (const bool other : {false, true}) {
      recipe.fill = [=](Row& row, Split split, std::int64_t, Random random) {
        constexpr std::size_t asked = 60 - kSymbols;
        std::vector<std::int64_t> counts(kSymbols), order(kSymbols), weights(kSymbols);
        for (auto& weight : weights) weight = 1 + random.below(20);
        for (std::size_t at = 0; at + 1 < asked; ++at) {
          auto left = random.below(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
          std::int64_t symbol = 0;
          for (; left >= weights[static_cast<std::size_t>(symbol)]; ++symbol) left -= weights[static_cast<std::size_t>(symbol)];
          ++counts[static_cast<std::size_t>(row.id(at) = symbol)];
        }
        row.id(asked - 1) = kSymbols;
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
          return counts[static_cast<std::size_t>(a)] > counts[static_cast<std::size_t>(b)];
        });
        if (other && split == Split::kTest) std::reverse(order.begin(), order.end());
        if (!whole_order) {
          row.target(asked - 1) = order[0];
          for (std::size_t rank = 1; rank <= kSymbols; ++rank) row.id(asked - 1 + rank) = kSymbols;
          return;
        }
        for (std::size_t rank = 0; rank < kSymbols; ++rank) {
          row.target(asked - 1 + rank) = order[rank];
          if (rank + 1 < kSymbols) row.id(asked + rank) = order[rank];
        }
      };
      INFO(whole_order << other);
      check_fails(recipe, other ? Names{"one rule"} : Names{});
    }
}

namespace {

/// Returns the splits with another rule, as "one rule" reports them.
std::string broken_on(const Recipe& recipe) {
  std::string on;
  for (const auto& check : checks_of(recipe)) {
    UNSCOPED_INFO(check.name << " [" << check.on << "]: " << check.found);
    if (check.name == "one rule" && check.failed()) on += check.on.substr(0, check.on.find(',')) + "; ";
  }
  return on;
}

}  // namespace

TEST_CASE("random labels in test, if words predict the label and classes have unequal sizes") {
  // One word in five is a word of the class. No position, sum or commonest word predicts the class, but all words together do.
  for (const auto& [classes, words, one_of] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{4, 1000, 5}, {6, 1000, 5}}) {
    auto recipe = digits(words);
    recipe.info.length = 60;
    recipe.info.classes = classes;
    recipe.size = 1500;
    std::vector<std::vector<std::int64_t>> words_of(static_cast<std::size_t>(classes));
    for (std::int64_t word = 0; word < words; ++word)
      words_of[mixed(3, static_cast<std::uint64_t>(word)) % words_of.size()].push_back(word);
    for (const bool other : {false, true}) {
      recipe.fill = [=, classes = classes, words = words, one_of = one_of](Row& row, Split split, std::int64_t, Random random) {
        const auto draw = [&] { return random.below(4) == 0 ? 0 : random.below(classes); };  // class 0 is the commonest
        const auto word_class = draw(), label = other && split == Split::kTest ? draw() : word_class;
        const auto& own = words_of[static_cast<std::size_t>(word_class)];
        for (std::size_t at = 0; at < 60; ++at)
          row.id(at) =
              random.below(one_of) == 0 ? own[static_cast<std::size_t>(random.below(std::ssize(own)))] : random.below(words);
        row.target() = label;
      };
      INFO(classes << other);
      CHECK(broken_on(recipe) == (other ? "dev; " : ""));
    }
  }
}

TEST_CASE("a few random labels, if a rule predicts all others") {
  auto recipe = digits();
  recipe.size = 2000;
  for (const auto fault : {Split::kDev, Split::kTest})
    for (const std::int64_t tenths : {0, 2}) {
      recipe.fill = [=](Row& row, Split split, std::int64_t, Random random) {
        fill(row, random, 10);
        std::int64_t sum = 0;
        for (std::size_t at = 0; at < 12; ++at) sum += row.id(at);
        row.target() = split == fault && random.below(10) < tenths ? random.below(2) : sum % 2;
      };
      CHECK(broken_on(recipe) == (tenths == 0 ? "" : fault == Split::kDev ? "train; dev; " : "dev; "));
    }
}
