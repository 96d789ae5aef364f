// Correct tasks of different shapes pass all checks, however well simple learners predict them.
#include <numeric>

#include "tests/conformance/task_recipe.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

/// Fills an example with `count` random digits.
std::vector<std::int64_t> digits(Row& row, Random& random, std::size_t count, std::int64_t vocabulary,
                                 std::size_t sequence = 0) {
  std::vector<std::int64_t> all(count);
  for (std::size_t at = 0; at < count; ++at) row.id(at, sequence) = all[at] = random.below(vocabulary);
  row.end(count, sequence);
  return all;
}

}  // namespace

TEST_CASE("one label for a sequence: rules that simple learners learn in part, in full or not at all") {
  Recipe recipe;
  recipe.info.length = 40;
  const auto with = [&](const char* name, std::int64_t vocabulary, std::int64_t classes,
                        const std::function<std::int64_t(const std::vector<std::int64_t>&)>& label) {
    INFO(name);
    recipe.info.fields[0].vocabulary = vocabulary;
    recipe.info.classes = classes;
    recipe.fill = [=](Row& row, Split, std::int64_t, Random random) {
      row.target() = label(digits(row, random, 32 + static_cast<std::size_t>(random.below(9)), vocabulary));
    };
    CHECK(failed(recipe) == "");
  };
  using Ids = std::vector<std::int64_t>;
  with("sum", 10, 10, [](const Ids& ids) { return std::accumulate(ids.begin(), ids.end(), std::int64_t{0}) % 10; });
  with("majority", 2, 2, [](const Ids& ids) {
    return 2 * std::count(ids.begin(), ids.end(), 1) > static_cast<std::ptrdiff_t>(ids.size()) ? 1 : 0;
  });
  with("first above last", 10, 2, [](const Ids& ids) { return ids.front() > ids.back() ? 1 : 0; });
  with("a neighbour twice", 60, 2,
       [](const Ids& ids) { return std::adjacent_find(ids.begin(), ids.end()) != ids.end() ? 1 : 0; });
  with("the place of the first 3", 4, 3,
       [](const Ids& ids) { return std::min<std::int64_t>(std::find(ids.begin(), ids.end(), 3) - ids.begin(), 8) / 3; });
}

TEST_CASE("random labels, in tasks with few examples and in a task with many words") {
  Recipe recipe;
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    digits(row, random, 12, 10);
    row.target() = random.below(2);
  };
  for (const auto size : {10, 60, 5000}) {
    recipe.size = size;
    recipe.info.fields[0].vocabulary = size == 5000 ? 8192 : 10;
    CHECK(failed(recipe) == "");
  }
}

TEST_CASE("pairs of sequences with ids, reals and slices") {
  Recipe recipe;
  recipe.info = {.fields = {{.name = "digit", .vocabulary = 3}, {.name = "half", .reals = 2}},
                 .sequences = 2,
                 .length = 14,
                 .classes = 2,
                 .slices = {"sum"}};
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    std::int64_t sums[2] = {0, 0};
    for (std::size_t sequence = 0; sequence < 2; ++sequence)
      for (std::size_t at = 0; at < 14; ++at) {
        const auto digit = row.id(at, 2 * sequence) = random.below(3);
        row.real(2 * at + 1, 2 * sequence + 1) = static_cast<float>(digit) / 2;
        sums[sequence] += digit;
      }
    row.target() = sums[0] % 3 == sums[1] % 3 ? 1 : 0;
    row.slice() = sums[0] % 3;
  };
  CHECK(failed(recipe) == "");
}

TEST_CASE("targets at some positions: recall, copies, a sum so far") {
  Recipe recipe;
  recipe.info = {.fields = {{.name = "token", .vocabulary = 64}},
                 .length = 32,
                 .classes = 64,
                 .objective = Objective::kPositions,
                 .causal = true,
                 .slices = {"pairs"}};
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {  // four pairs, then the keys again among fillers
    const auto shift = static_cast<std::size_t>(random.below(8));
    for (std::size_t pair = 0; pair < 4; ++pair) {
      const auto key = 1 + 8 * static_cast<std::int64_t>(pair) + random.below(8), value = 33 + random.below(31);
      row.id(2 * pair) = key;
      row.id(2 * pair + 1) = value;
      const auto at = 8 + (pair * 2 + shift) % 8 * 3;
      row.id(at) = key;
      row.target(at) = value;
    }
    row.slice() = 4;
  };
  CHECK(failed(recipe) == "");
  recipe.info.fields[0].vocabulary = recipe.info.classes = 6;
  recipe.info.slices = {};
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    digits(row, random, 32, 6);
    for (std::size_t at = 16; at < 32; ++at) row.target(at) = row.id(at - 16);
  };
  CHECK(failed(recipe) == "");
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    std::int64_t sum = 0;
    const auto all = digits(row, random, 20 + static_cast<std::size_t>(random.below(13)), 6);
    for (std::size_t at = 0; at < all.size(); ++at) row.target(at) = (sum += all[at]) % 6;
  };
  CHECK(failed(recipe) == "");
}

TEST_CASE("a stream of random symbols, and a stream of a language") {
  Recipe recipe;
  recipe.info = {.fields = {{.name = "symbol", .vocabulary = 12}},
                 .length = 16,
                 .classes = 12,
                 .objective = Objective::kPositions,
                 .sampling = Sampling::kStream,
                 .causal = true,
                 .unit = "symbol"};
  recipe.size = 4000;
  for (const bool language : {false, true}) {
    // In the language, each symbol is drawn from two symbols, which depend on the three symbols before it.
    const auto symbol = [=](Split split, std::int64_t place, std::int64_t seed) {
      std::int64_t last[3] = {0, 0, 0};
      for (auto at = std::max<std::int64_t>(place - 12, -1); at <= place; ++at) {
        Random random(split, at, seed);
        const auto next = language ? (5 * last[0] + last[2] + 3 * random.below(2)) % 12 : random.below(12);
        last[0] = last[1], last[1] = last[2], last[2] = next;
      }
      return last[2];
    };
    recipe.fill = [=, size = recipe.size](Row& row, Split split, std::int64_t index, Random random) {
      const auto seed = random.start();
      if (index == 0) row.start();
      for (std::size_t at = 0; at < row.length(); ++at) {
        const auto place = index + static_cast<std::int64_t>(at);
        if (place >= size) return row.end(at);
        row.id(at) = symbol(split, place, seed);
        row.target(at) = symbol(split, place + 1, seed);
      }
    };
    CHECK(failed(recipe) == "");
  }
}

TEST_CASE("examples of numbers without ids, pictures, and examples with holes") {
  Recipe recipe;
  recipe.info = {.fields = {{.name = "size", .reals = 3}}, .length = 10, .classes = 2};
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    double sum = 0;
    for (std::size_t i = 0; i < 30; ++i) sum += row.real(i) = static_cast<float>(random.unit() - 0.5);
    row.target() = sum > 0 ? 1 : 0;
  };
  CHECK(failed(recipe) == "");
  // A bright square in one quarter of a dark picture, with noise: every pixel predicts a little.
  recipe.info = {
      .fields = {{.name = "grey", .vocabulary = 256}}, .length = 256, .classes = 4, .geometry = {.rows = 16, .columns = 16}};
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    const auto quarter = random.below(4), top = quarter / 2 * 8 + random.below(6), left = quarter % 2 * 8 + random.below(6);
    for (std::int64_t at = 0; at < 256; ++at) {
      const bool inside = at / 16 >= top && at / 16 < top + 3 && at % 16 >= left && at % 16 < left + 3;
      row.id(static_cast<std::size_t>(at)) = (inside ? 128 : 0) + random.below(64);
    }
    row.target() = quarter;
  };
  CHECK(failed(recipe) == "");
  recipe.info = {.fields = {{.name = "digit", .vocabulary = 10}}, .length = 24, .classes = 10, .holes = true};
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < 24; ++at) {
      row.id(at) = random.below(10);
      if (at > 0 && random.below(3) == 0)
        row.present(at) = 0;
      else
        sum += row.id(at);
    }
    row.target() = sum % 10;
  };
  CHECK(failed(recipe) == "");
}

TEST_CASE("short training examples and long test examples") {
  Recipe recipe;
  recipe.info = {.fields = {{.name = "bit", .vocabulary = 2}}, .length = 128, .train_length = 40, .classes = 2};
  recipe.fill = [](Row& row, Split split, std::int64_t, Random random) {
    const auto all = digits(
        row, random, static_cast<std::size_t>(split == Split::kTrain ? 24 + random.below(17) : 41 + random.below(88)), 2);
    row.target() = std::count(all.begin(), all.end(), 1) % 2;
  };
  const auto checks = checks_of(recipe);
  CHECK(failed(checks) == "");
  check_mentions(said(checks, "one rule", "dev"), "only 0 examples of dev are no longer than the longest example of train");
}
