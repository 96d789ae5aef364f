// Labels that simple features predict.
#include "tests/conformance/task_digits.h"

using namespace ablate;
using namespace ablate::tests;

TEST_CASE("a label at one position") {
  using Leak = void (*)(Row & row, Random & random);
  const std::tuple<const char*, std::int64_t, Leak> leaks[] = {
      {"first", 10, [](Row& row, Random&) { row.id(0) = row.target(); }},
      {"in the middle, in nine of ten", 10,
       [](Row& row, Random& random) {
         if (random.below(10) > 0) row.id(7) = 3 + row.target();
       }},
      {"the remainder of a word", 8192, [](Row& row, Random&) { row.id(4) += row.target() - row.id(4) % 2; }},
      {"the size of a word", 8192, [](Row& row, Random&) { row.id(9) = row.id(9) / 2 + 4096 * row.target(); }},
      {"the last one of any length", 10, [](Row& row, Random& random) {
         const auto end = static_cast<std::size_t>(4 + random.below(9));
         row.id(end - 1) = 8 + row.target();
         row.end(end);
       }}};
  for (const auto& [name, vocabulary, leak] : leaks) {
    INFO(name);
    auto recipe = digits(vocabulary);
    recipe.fill = [leak = leak, vocabulary = vocabulary](Row& row, Split, std::int64_t, Random random) {
      fill(row, random, vocabulary);
      leak(row, random);
    };
    check_fails(recipe, {"label at a position"});
  }
  auto recipe = digits();
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    fill(row, random, 10);
    row.id(0) = row.target();
  };
  check_mentions(said(checks_of(recipe), "label at a position", "test"), "digit at 0 predicts 1.000 of the targets of test");
}

TEST_CASE("a label in the middle, after a mark, or in fewer than half of the examples") {
  using Leak = void (*)(Row & row, Random & random);
  const std::pair<const char*, Leak> leaks[] = {{"the last one, in 45 of 100",
                                                 [](Row& row, Random& random) {
                                                   if (random.below(100) < 45) row.id(row.length() - 1) = row.target();
                                                 }},
                                                {"the middle one of any length",
                                                 [](Row& row, Random& random) {
                                                   const auto end = static_cast<std::size_t>(20 + random.below(21));
                                                   row.id(end / 2) = row.target();
                                                   row.end(end);
                                                 }},
                                                {"at three quarters of any length",
                                                 [](Row& row, Random& random) {
                                                   const auto end = static_cast<std::size_t>(20 + random.below(21));
                                                   row.id((end - 1) * 3 / 4) = row.target();
                                                   row.end(end);
                                                 }},
                                                {"behind the only mark",
                                                 [](Row& row, Random& random) {
                                                   const auto at = static_cast<std::size_t>(random.below(39));
                                                   row.id(at) = 10;
                                                   row.id(at + 1) = row.target();
                                                 }},
                                                {"behind a mark that is rare", [](Row& row, Random& random) {
                                                   const auto at = static_cast<std::size_t>(random.below(18)),
                                                              again = at + 2 + static_cast<std::size_t>(random.below(18));
                                                   row.id(at) = row.id(again) = 11;
                                                   row.id(at + 1) = row.target();
                                                 }}};
  for (const auto& [name, leak] : leaks) {
    INFO(name);
    Recipe recipe;
    recipe.info.fields[0].vocabulary = 12;
    recipe.info.length = 40;
    recipe.info.classes = 10;
    recipe.size = 1500;
    recipe.fill = [leak = leak](Row& row, Split, std::int64_t, Random random) {
      for (std::size_t at = 0; at < row.length(); ++at) row.id(at) = random.below(10);
      row.target() = random.below(10);
      leak(row, random);
    };
    check_fails(recipe, {"label at a position"});
  }
}

TEST_CASE("a label in the second sequence, in reals, in a hole, at the target's position, or at the next position") {
  Recipe recipe;
  recipe.info = {
      .fields = {{.name = "digit", .vocabulary = 10}, {.name = "size", .reals = 2}}, .sequences = 2, .length = 8, .classes = 2};
  for (const int where : {0, 1}) {
    recipe.fill = [=](Row& row, Split, std::int64_t, Random random) {
      row.target() = random.below(2);
      for (std::size_t sequence = 0; sequence < 2; ++sequence)
        for (std::size_t at = 0; at < 8; ++at) {
          row.id(at, 2 * sequence) = random.below(10);
          for (std::size_t i = 0; i < 2; ++i) row.real(2 * at + i, 2 * sequence + 1) = static_cast<float>(random.unit());
        }
      if (where == 0) row.id(6, 2) = row.target() == 0 ? 2 : 5;
      if (where == 1) row.real(2 * 3 + 1, 1) += row.target() == 0 ? 0.0f : 0.8f;
    };
    check_fails(recipe, {"label at a position"});
  }
  recipe.info = {.fields = {{.name = "digit", .vocabulary = 10}}, .length = 16, .classes = 2, .holes = true};
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {
    for (std::size_t at = 0; at < 16; ++at) row.id(at) = random.below(10), row.present(at) = random.below(2) == 0;
    row.present(0) = 1;
    row.target() = random.below(2);
    row.present(5) = row.target() == 1;
  };
  check_fails(recipe, {"label at a position"});
  recipe.info = {
      .fields = {{.name = "digit", .vocabulary = 10}}, .length = 16, .classes = 10, .objective = Objective::kPositions};
  for (const std::size_t behind : {0, 1}) {  // 1: the target is the next token, which a model that is not causal sees
    recipe.info.causal = behind == 0;
    recipe.fill = [=](Row& row, Split, std::int64_t, Random random) {
      for (std::size_t at = 0; at < 16; ++at) row.id(at) = random.below(10);
      for (std::size_t at = 0; at + behind < 16; ++at) row.target(at) = row.id(at + behind);
    };
    check_fails(recipe, {"label at a position"});
  }
}

TEST_CASE("a label that the length predicts") {
  using End = std::size_t (*)(std::int64_t label, Random & random);
  const std::pair<const char*, End> ends[] = {
      {"odd or even",
       [](std::int64_t label, Random& random) { return static_cast<std::size_t>(20 + 2 * random.below(20) + label); }},
      {"longer",
       [](std::int64_t label, Random& random) { return static_cast<std::size_t>(20 + random.below(20) + 20 * label); }},
      {"longer, in four of five", [](std::int64_t label, Random& random) {
         return static_cast<std::size_t>(random.below(5) == 0 ? 20 + random.below(40) : 20 + random.below(20) + 20 * label);
       }}};
  auto recipe = digits();
  recipe.info.length = 64;
  for (const auto& [name, end] : ends) {
    INFO(name);
    recipe.fill = [end = end](Row& row, Split, std::int64_t, Random random) {
      fill(row, random, 10);
      row.end(end(row.target(), random));
    };
    CHECK(failing(recipe).count("label by length") == 1);
  }
  recipe.info.holes = true;
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {  // the label decides how many positions are present
    fill(row, random, 10);
    for (std::size_t at = 1; at + 1 < row.length(); ++at) row.present(at) = random.below(10) < 2 + 6 * row.target();
  };
  CHECK(failing(recipe).count("label by length") == 1);
  recipe.info = {.fields = {{.name = "digit", .vocabulary = 10}}, .sequences = 2, .length = 16, .classes = 2};
  recipe.fill = [](Row& row, Split, std::int64_t, Random random) {  // the label is 1 if the first sequence is longer
    for (std::size_t sequence = 0; sequence < 2; ++sequence)
      for (std::size_t at = 0; at < 16; ++at) row.id(at, sequence) = random.below(10);
    const auto a = 1 + random.below(16), b = 1 + random.below(16);
    row.end(static_cast<std::size_t>(a), 0);
    row.end(static_cast<std::size_t>(b), 1);
    row.target() = a > b;
  };
  CHECK(failing(recipe).count("label by length") == 1);
}
