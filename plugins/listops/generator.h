// Random expressions as the Long Range Arena makes them (Tay et al. 2021, listops generator).
#pragma once

#include <cstdint>
#include <string>

#include "examples.h"

namespace ablate::listops {

struct GeneratorSettings {
  std::int64_t min_length;      ///< symbols; kept expressions are longer
  std::int64_t max_length;      ///< symbols; kept expressions are shorter
  std::int64_t max_depth;       ///< nodes at this depth are digits; the root's is 1
  std::int64_t max_arguments;   ///< an operator has 2 to as many
  double operator_probability;  ///< that a node above max_depth is an operator
  std::uint64_t seed;
};

/// As many distinct expressions, in an order that depends on the settings alone, not on the number of threads; fewer examples
/// are a prefix of more. Throws std::runtime_error where the settings yield too few: 2^20 tries with less than one new
/// expression in 1,000.
Examples generate(const GeneratorSettings& settings, std::size_t count, int threads);

/// All that generate depends on, its own version included: two equal texts mean equal examples.
std::string to_text(const GeneratorSettings& settings);

}  // namespace ablate::listops
