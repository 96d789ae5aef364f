// Equal or nearly equal examples in two splits or in one split, and exemptions that a task may declare for them.
#include "tests/conformance/task_recipe.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

using Names = std::set<std::string>;

constexpr std::size_t kLength = 40;

/// Fills an example with random words, rotated by `shift`, and a random label. `random` draws both.
void write(Row& row, Random random, std::size_t shift = 0) {
  std::vector<std::int64_t> words(kLength);
  for (auto& word : words) word = random.below(50);
  for (std::size_t at = 0; at < kLength; ++at) row.id(at) = words[(at + shift) % kLength];
  row.target() = random.below(2);
}

Recipe words() {
  Recipe recipe;
  recipe.info.fields[0].vocabulary = 50;
  recipe.info.length = kLength;
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) { write(row, random); };
  return recipe;
}

}  // namespace

TEST_CASE("examples that are nearly equal to train's examples, with their labels") {
  auto recipe = words();
  CHECK(failed(recipe) == "");
  using Change = void (*)(Row & row, Random source);
  const std::pair<const char*, Change> changes[] = {
      {"one word changed", [](Row& row, Random source) { write(row, source), row.id(13) = (row.id(13) + 1) % 50; }},
      {"turned by three", [](Row& row, Random source) { write(row, source, 3); }},
      {"cut at the end", [](Row& row, Random source) { write(row, source), row.end(kLength - 4); }},
      {"the other label",
       [](Row& row, Random source) { write(row, source), row.id(0) = 49 - row.id(0), row.target() = 1 - row.target(); }}};
  for (const auto& [name, change] : changes) {
    INFO(name);
    recipe.fill = [change = change](Row& row, Split split, std::int64_t index, Random random) {
      split == Split::kTest ? change(row, Random(Split::kTrain, 399 - index, random.start())) : write(row, random);
    };
    auto names = failing(recipe);
    names.erase("one rule");  // may fail, too: the audit's learners memorise some of these words
    CHECK(names == Names{"no near-duplicates"});
  }
  check_mentions(said(checks_of(recipe), "no near-duplicates", "train, 400 of 400 examples, test"),
                 "400 of 400 examples of test are nearly the same as one of train (400 were searched)");
  // In drawn data (with data_seed), near-duplicates in a twentieth of dev fail the check. In real data, they are only reported.
  recipe.fill = [](Row& row, Split split, std::int64_t index, Random random) {
    if (split != Split::kDev || index % 20 != 0) return write(row, random);
    write(row, Random(Split::kTrain, index, random.start()));
    row.id(20) = (row.id(20) + 1) % 50;
  };
  CHECK(failing(recipe) == Names{"no near-duplicates"});
  recipe.has_seed = false;
  const auto checks = checks_of(recipe);
  CHECK(failed(checks) == "");
  check_mentions(said(checks, "no near-duplicates", "train, 400 of 400 examples, dev"), "20 of 400 examples of dev are nearly");
}

TEST_CASE("drawn examples that equal train's examples, except for every fifth or third word") {
  for (const std::int64_t every : {5, 3}) {
    auto recipe = words();
    recipe.fill = [every](Row& row, Split split, std::int64_t index, Random random) {
      write(row, Random(Split::kTrain, index, random.start()));
      if (split == Split::kTrain) return;
      for (std::size_t at = 0; at < kLength; ++at)
        if (random.below(every) == 0) row.id(at) = random.below(50);
    };
    auto names = failing(recipe);
    names.erase("one rule");
    CHECK(names == Names{"no near-duplicates"});
  }
  // With two symbols, half of the positions are equal by chance. Examples with the same label have more equal positions.
  auto recipe = words();
  recipe.info.length = 64;
  recipe.info.fields[0].vocabulary = 2;
  recipe.size = 1000;
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    row.target() = random.below(2);
    for (std::size_t at = 0; at < 64; ++at) row.id(at) = random.below(10) < 4 + 2 * row.target();
  };
  CHECK(failing(recipe) == Names{});
}

TEST_CASE("train's examples as numbers with noise, and as a pair with swapped documents") {
  Recipe recipe;
  recipe.info = {.fields = {{.name = "size", .reals = 1}}, .length = 32, .classes = 2};
  recipe.fill = [](Row& row, Split split, std::int64_t index, Random random) {
    Random source(split == Split::kDev ? Split::kTrain : split, index, random.start());
    for (std::size_t at = 0; at < 32; ++at)
      row.real(at) = static_cast<float>(source.unit() + (split == Split::kDev ? 1e-4 * random.unit() : 0));
    row.target() = source.below(2);
  };
  CHECK(failing(recipe) == Names{"no near-duplicates"});
  recipe.info = {.fields = {{.name = "digit", .vocabulary = 10}}, .sequences = 2, .length = 20, .classes = 2};
  recipe.fill = [](Row& row, Split split, std::int64_t index, Random random) {
    Random source(split == Split::kTest ? Split::kTrain : split, index, random.start());
    for (const std::size_t sequence : {0, 1})
      for (std::size_t at = 0; at < 20; ++at) row.id(at, split == Split::kTest ? 1 - sequence : sequence) = source.below(10);
    row.target() = source.below(2);
  };
  CHECK(failing(recipe) == Names{"no near-duplicates"});
}

TEST_CASE("examples that occur twice in a split, or in two splits") {
  auto recipe = words();
  const auto from = [&](const std::function<std::int64_t(Split, std::int64_t)>& index_of, Split other) {
    recipe.fill = [=](Row& row, Split split, std::int64_t index, Random random) {
      const auto source = index_of(split, index);
      write(row, Random(source < 0 ? other : split, source < 0 ? index : source, random.start()));
    };
  };
  from([](Split split, std::int64_t index) { return split == Split::kTest ? index / 2 : index; }, Split::kTest);
  CHECK(failing(recipe) == Names{"no duplicates"});
  check_mentions(
      failed(recipe),
      "no duplicates [test, 400 of 400 examples]: off by 0.5, 0.01 allowed: 200 of 400 examples of test repeat an earlier one; "
      "example 1 is example 0");
  from([](Split split, std::int64_t index) { return split == Split::kTrain && index % 10 == 9 ? index - 9 : index; },
       Split::kTest);
  CHECK(failing(recipe) == Names{"no duplicates"});
  from([](Split split, std::int64_t index) { return split == Split::kTest && index == 5 ? -1 : index; }, Split::kTrain);
  check_mentions(failed(recipe), "1 of 400 examples of test are also in train; example 5 is example 5 of train");
  from([](Split split, std::int64_t index) { return split == Split::kDev ? -1 : index; }, Split::kTest);
  check_mentions(failed(recipe),
                 "splits are disjoint [dev, 400 of 400 examples, test, 400 of 400 examples]: off by 1, 0 allowed: 400 of 400");
  // In real data (without data_seed), a few repeated examples are only reported.
  recipe.has_seed = false;
  CHECK(failing(recipe) == Names{"splits are disjoint"});
  from(
      [](Split split, std::int64_t index) {
        return split == Split::kTest && index % 150 == 0 ? -1 : index % 101 == 100 ? 0 : index;
      },
      Split::kTrain);
  const auto checks = checks_of(recipe);
  CHECK(failed(checks) == "");
  check_mentions(said(checks, "splits are disjoint", "train, 400 of 400 examples, test"),
                 "3 of 400 examples of test are also in train");
  check_mentions(said(checks, "no duplicates", "dev"),
                 "3 of 400 examples of dev repeat an earlier one; example 100 is example 0");
}

TEST_CASE("the content of padding does not change an example") {
  for (const bool reals : {false, true}) {
    Recipe recipe;
    recipe.info.fields = {{.name = "word", .vocabulary = 50}, {.name = "size", .reals = 2}};
    recipe.info.length = kLength;
    recipe.fill = [reals](Row& row, Split split, std::int64_t index, Random random) {
      Random source(split, index / 2, random.start());
      for (std::size_t at = 0; at < kLength; ++at) row.id(at) = source.below(50);
      row.target() = source.below(2);
      row.end(30);
      reals ? void(row.real(2 * 30 + 1, 1) = static_cast<float>(index % 2)) : void(row.id(30) = index % 2);
    };
    CHECK(failing(recipe) == Names{"no duplicates"});
  }
}

TEST_CASE("a declared exemption is reported, and must name a check") {
  auto recipe = words();
  recipe.fill = [](Row& row, Split split, std::int64_t index, Random random) {
    write(row, Random(split == Split::kDev ? Split::kTest : split, index, random.start()));
  };
  recipe.exemptions = {{"splits are disjoint", "dev, test", "dev is test (section 4)", 1}};
  auto checks = checks_of(recipe);
  CHECK(failed(checks) == "");
  check_mentions(said(checks, "splits are disjoint", "dev"), "off by 1, 1 allowed: 400 of 400");
  check_mentions(said(checks, "splits are disjoint", "dev"), "exempt up to 1: dev is test (section 4)");
  check_mentions(said(checks, "exemptions"), "as it should be");
  for (const char* what : {"train, test", "dev"}) {
    recipe.exemptions[0].what = what;
    checks = checks_of(recipe);
    check_mentions(failed(checks), "splits are disjoint [dev");
    check_mentions(said(checks, "exemptions"), std::string("not needed: splits are disjoint of ") + what);
  }
  recipe.exemptions = {{"splits are disjoint", "", "all alike", 1}, {"label by lenght", "", "why not", 1}};
  checks = checks_of(recipe);
  check_mentions(failed(checks),
                 "exemptions [2 declared]: wrong: no check is called \"label by lenght\" (did you mean label by length?)");
  recipe.exemptions = {{"splits are disjoint", "", "dev is test", 1, "data_seed = 1"}};
  check_mentions(failed(recipe), "splits are disjoint [dev");
  recipe.exemptions[0].when = "data_seed = 0";
  CHECK(failed(recipe) == "");
  recipe.exemptions[0].tolerance = 0.5;
  check_mentions(failed(recipe), "off by 1, 0.5 allowed");
  // Here the label is predictable on purpose, and test has another rule on purpose.
  recipe = words();
  recipe.fill = [](Row& row, Split split, std::int64_t, Random random) {
    write(row, random);
    row.target() = (row.id(0) > 24) != (split == Split::kTest);
  };
  CHECK(failing(recipe) == Names{"label at a position", "one rule"});
  recipe.exemptions = {{"label at a position", "dev, test", "it asks for the first word", 1},
                       {"one rule", "dev, test", "the opposite is asked", 3}};
  CHECK(failed(recipe) == "");
}
