// Random expressions as in the Long Range Arena (Tay et al. 2021, listops generator).
#pragma once

#include <cstdint>
#include <string>

#include "examples.h"

namespace ablate::listops {

struct GeneratorSettings {
  std::int64_t min_length;      ///< symbols; accepted expressions are longer
  std::int64_t max_length;      ///< symbols; accepted expressions are shorter
  std::int64_t max_depth;       ///< nodes at this depth are digits; the root has depth 1
  std::int64_t max_arguments;   ///< an operator has 2 to max_arguments arguments
  double operator_probability;  ///< probability that a node at a depth below max_depth is an operator
  std::uint64_t seed;
};

/// Returns `count` distinct expressions. Their order depends only on the settings, not on the number of threads. A smaller
/// count returns a prefix. Throws std::runtime_error if the settings yield too few: 2^20 tries with fewer than one new
/// expression in 1,000.
Examples generate(const GeneratorSettings& settings, std::size_t count, int threads);

/// Returns all inputs of generate() and the generator's version as a text. Equal texts mean equal examples.
std::string to_text(const GeneratorSettings& settings);

}  // namespace ablate::listops
