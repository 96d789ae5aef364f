// Data that reveal too much. Each entry of leaks() has a task and the check (of the suite or of an audit) that finds the leak.
#include <cmath>

#include "tests/conformance/task_digits.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

using Ids = std::vector<std::int64_t>;

/// Returns random symbols for one example of one split.
Ids drawn(Split split, std::int64_t index, std::int64_t seed, std::size_t length, std::int64_t vocabulary) {
  Random random(split, index, seed);
  Ids ids(length);
  for (auto& id : ids) id = random.below(vocabulary);
  return ids;
}

void put(Row& row, const Ids& ids) {
  for (std::size_t at = 0; at < ids.size(); ++at) row.id(at) = ids[at];
}

/// Returns a task whose test split is a copy of train. `change` changes the symbols of each copied example. If `backwards`, the
/// copies are in reverse order.
Recipe copied(std::int64_t vocabulary, std::int64_t length, const std::function<void(Ids&)>& change, bool backwards = false) {
  auto recipe = digits(vocabulary);
  recipe.info.length = length;
  recipe.fill = [=, size = recipe.size](Row& row, Split split, std::int64_t index, Random random) {
    const bool is_copy = split == Split::kTest;
    const auto source = is_copy && backwards ? size - 1 - index : index;
    auto ids = drawn(is_copy ? Split::kTrain : split, source, random.start(), row.length(), vocabulary);
    row.target() = Random(is_copy ? Split::kTrain : split, source, random.start() + 1).below(2);
    if (is_copy) change(ids);
    put(row, ids);
  };
  return recipe;
}

/// Returns a task whose splits have windows of the same text. A window has 40 symbols and overlaps the next window by half.
/// 16 windows in a row share a label. If `in_place`, each position has the next symbol as its target, and there is no label.
Recipe overlapping(bool is_drawn, bool in_place) {
  auto recipe = in_place ? digits_with_targets(10, 40) : digits(10);
  recipe.info.length = 40;
  recipe.has_seed = is_drawn;
  recipe.fill = [=](Row& row, Split split, std::int64_t index, Random random) {
    const auto window = split == Split::kTrain ? index / 2 * 4 + index % 2 : 4 * index + (split == Split::kDev ? 2 : 3);
    const auto symbol = [&](std::int64_t place) { return Random(Split::kTrain, place, random.start()).below(10); };
    for (std::size_t at = 0; at < 40; ++at) {
      const auto place = 20 * window + static_cast<std::int64_t>(at);
      row.id(at) = symbol(place);
      if (in_place) row.target(at) = symbol(place + 1);
    }
    if (!in_place) row.target() = Random(Split::kTest, window / 16, 5).below(2);
  };
  return recipe;
}

/// Returns a task of random symbols. `label` may first change the symbols, and returns the label.
Recipe labelled(std::int64_t vocabulary, const std::function<std::int64_t(Row& row, Random& random)>& label) {
  auto recipe = digits(vocabulary + 2);
  recipe.info.length = 40;
  recipe.size = 1000;
  recipe.fill = [=](Row& row, Split, std::int64_t, Random random) {
    for (std::size_t at = 0; at < row.length(); ++at) row.id(at) = random.below(vocabulary);
    row.target() = label(row, random);
  };
  return recipe;
}

/// Puts two unique marks at random places. Returns the distance of the marks.
std::int64_t mark_two(Row& row, Random& random, std::int64_t mark) {
  const auto a = random.below(40), b = (a + 1 + random.below(39)) % 40;
  row.id(static_cast<std::size_t>(a)) = mark;
  row.id(static_cast<std::size_t>(b)) = mark + 1;
  return std::abs(b - a);
}

Recipe with_hole(const std::function<std::int64_t(std::int64_t place)>& label) {
  auto recipe = labelled(10, [label](Row& row, Random& random) {
    const auto place = 1 + random.below(38);
    row.present(static_cast<std::size_t>(place)) = 0;
    return label(place);
  });
  recipe.info.holes = true;
  return recipe;
}

/// Returns a task whose size is one too large. `what` fills the last example, which repeats the first if `what` is empty.
Recipe too_large(const std::function<void(Row& row)>& what) {
  auto recipe = digits();
  recipe.fill = [=, size = recipe.size](Row& row, Split split, std::int64_t index, Random random) {
    Random first(split, 0, random.start());
    if (index < size - 1) return fill(row, random, 10);
    what ? what(row) : fill(row, first, 10);
  };
  return recipe;
}

/// Returns a text in which the `chunk` symbols from place 256 on come twice.
Recipe with_chunk_twice(std::int64_t chunk) {
  return text_of([=](Split split, std::int64_t place, std::int64_t seed) {
    return random_symbol(split, place < 256 + chunk ? place : place - chunk, seed);
  });
}

struct Leak {
  const char* what;
  Recipe recipe;
  const char* check;
};

std::vector<Leak> leaks() {
  const auto nothing = [](Ids&) {};
  const auto turned = [](Ids& ids) { std::reverse(ids.begin(), ids.end()); };
  const auto neighbours = [](std::int64_t vocabulary) {
    return [=](Ids& ids) {
      for (auto& id : ids) id = (id + 1) % vocabulary;
    };
  };
  return {
      {"test is train, the last example first", copied(10, 12, nothing, true), "splits are disjoint"},
      {"test is train, the last symbol first", copied(10, 12, turned), "no near-duplicates"},
      {"test is train, the last word first", copied(50, 40, turned, true), "no near-duplicates"},
      {"test is train, symbols in order", copied(50, 40, [](Ids& ids) { std::sort(ids.begin(), ids.end()); }),
       "no near-duplicates"},
      {"test is train, each symbol replaced by its neighbour", copied(10, 12, neighbours(10)), "no near-duplicates"},
      {"test is train, each word replaced by its neighbour", copied(50, 40, neighbours(50)), "no near-duplicates"},
      {"test is train, each word renamed",
       copied(50, 40,
              [](Ids& ids) {
                for (auto& id : ids) id = (7 * id + 3) % 50;
              }),
       "no near-duplicates"},
      {"test is train, every twelfth symbol another one",
       copied(10, 24,
              [](Ids& ids) {
                for (std::size_t at = 5; at < ids.size(); at += 12) ids[at] = (ids[at] + 3) % 10;
              }),
       "no near-duplicates"},
      {"windows that overlap by half", overlapping(true, false), "no near-duplicates"},
      {"real windows that overlap by half", overlapping(false, false), "no near-duplicates"},
      {"real windows that overlap by half, of the next symbol", overlapping(false, true), "no near-duplicates"},
      {"the sum of two positions is odd", labelled(10, [](Row& row, Random&) { return (row.id(5) + row.id(17)) % 2; }),
       "label at two positions"},
      {"the sum of two words is odd", labelled(8000, [](Row& row, Random&) { return (row.id(30) + row.id(17)) % 2; }),
       "label at two positions"},
      {"one position is above another, in nine of ten",
       labelled(200,
                [](Row& row, Random& random) {
                  return random.below(10) == 0 ? random.below(2) : std::int64_t{row.id(2) > row.id(33)};
                }),
       "label at two positions"},
      {"the distance of two marks is odd", labelled(10, [](Row& row, Random& random) { return mark_two(row, random, 10) % 2; }),
       "label by length"},
      {"two marks are near",
       labelled(10, [](Row& row, Random& random) { return std::int64_t{mark_two(row, random, 10) < 12}; }), "label by length"},
      {"the place of a mark",
       labelled(10,
                [](Row& row, Random& random) {
                  const auto at = random.below(40);
                  row.id(static_cast<std::size_t>(at)) = 10;
                  return at / 4 % 2;
                }),
       "label by length"},
      {"a hole is at an odd place", with_hole([](std::int64_t place) { return place % 2; }), "label by length"},
      {"a hole is in the first half", with_hole([](std::int64_t place) { return std::int64_t{place < 20}; }),
       "label by length"},
      {"the length modulo 3",
       labelled(10,
                [](Row& row, Random& random) {
                  const auto end = 10 + random.below(30);
                  row.end(static_cast<std::size_t>(end));
                  return end % 3 % 2;
                }),
       "label by length"},
      {"one more than there are: the first one again", too_large({}), "no duplicates"},
      {"one more than there are: zeros", too_large([](Row& row) { row.target() = 0; }), "more than one answer"},
      {"one more than there are: no target", too_large([](Row& row) { row.id(0) = 3; }), "more than one answer"},
      {"a chunk of 64 twice", with_chunk_twice(64), "no duplicates"},
      {"a chunk of 512 twice", with_chunk_twice(512), "no duplicates"},
  };
}

}  // namespace

TEST_CASE("data that reveal too much are found") {
  for (const auto& [what, recipe, check] : leaks()) {
    INFO(what);
    CHECK(failing(recipe).count(check) == 1);
  }
}

TEST_CASE("noise only in dev's labels is reported as another rule") {
  auto recipe = labelled(10, [](Row& row, Random&) { return std::int64_t{row.id(0) + row.id(1) > 8}; });
  recipe.fill = [usual = recipe.fill](Row& row, Split split, std::int64_t index, Random random) {
    usual(row, split, index, random);
    if (split == Split::kDev && random.below(4) == 0) row.target() = 1 - row.target();
  };
  CHECK(failing(recipe).count("one rule") == 1);
}

TEST_CASE("examples of one plan with different symbols are no copies of each other") {
  // Each symbol repeats the symbol `back` places before it, and the label depends on `back`. The first symbols are random.
  auto recipe = labelled(50, [](Row& row, Random& random) {
    const auto back = static_cast<std::size_t>(11 + random.below(8));
    row.end(36);  // no two values of `back` have a common multiple below 36
    for (auto at = back; at < row.length(); ++at) row.id(at) = row.id(at - back);
    return static_cast<std::int64_t>(back % 2);
  });
  CHECK(failed(recipe) == "");
  // Each example is one of six sequences (plans), with the symbols renamed.
  recipe = labelled(101, [](Row& row, Random& random) {
    const auto plan = random.below(6), by = random.below(101), factor = 1 + random.below(100);
    auto ids = drawn(Split::kTrain, plan, 7, 40, 8);
    for (auto& id : ids) id = (factor * id + by) % 101;
    put(row, ids);
    return plan % 2;
  });
  CHECK(failing(recipe).count("no near-duplicates") == 0);
}
