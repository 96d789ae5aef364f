// Tasks of random digits, and a test of the label findings on them.
#pragma once

#include "tests/conformance/task_recipe.h"

namespace ablate::tests {

using Names = std::set<std::string>;

/// Returns a task of random digits.
inline Recipe digits(std::int64_t vocabulary = 10) {
  Recipe recipe;
  recipe.info.fields[0].vocabulary = vocabulary;
  return recipe;
}

/// Fills an example with random digits and a random label.
inline void fill(Row& row, Random& random, std::int64_t vocabulary) {
  for (std::size_t at = 0; at < row.length(); ++at) row.id(at) = random.below(vocabulary);
  row.target() = random.below(2);
}

/// Returns a task of random digits with a target at each position.
inline Recipe digits_with_targets(std::int64_t vocabulary = 10, std::int64_t length = 16) {
  auto recipe = digits(vocabulary);
  recipe.info.length = length;
  recipe.info.classes = vocabulary;
  recipe.info.objective = Objective::kPositions;
  recipe.info.causal = true;
  return recipe;
}

/// Returns a task with one text for each split. `symbol` returns the symbol at a place. The target is the next symbol.
using Symbol = std::function<std::int64_t(Split split, std::int64_t place, std::int64_t seed)>;
inline Recipe text_of(const Symbol& symbol, std::int64_t vocabulary = 12) {
  auto recipe = digits_with_targets(vocabulary);
  recipe.info.sampling = Sampling::kStream;
  recipe.info.unit = "symbol";
  recipe.size = 4000;
  recipe.fill = [symbol, size = recipe.size](Row& row, Split split, std::int64_t index, Random random) {
    if (index == 0) row.start();
    for (std::size_t at = 0; at < row.length(); ++at) {
      const auto place = index + static_cast<std::int64_t>(at);
      if (place >= size) return row.end(at);
      row.id(at) = symbol(split, place, random.start());
      row.target(at) = symbol(split, place + 1, random.start());
    }
  };
  return recipe;
}
inline std::int64_t random_symbol(Split split, std::int64_t place, std::int64_t seed) {
  return Random(split, place, seed).below(12);
}

/// Checks that exactly the expected findings fail. Counts only findings about labels and rules.
inline void check_fails(const Recipe& recipe, const Names& expected) {
  Names found;
  for (const auto& name : failing(recipe))
    if (name.starts_with("label") || name == "one rule") found.insert(name);
  CHECK(found == expected);
}

}  // namespace ablate::tests
