#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "pictures.h"

namespace ablate::pathfinder {

struct GeneratorSettings {
  std::int64_t side;     ///< pixels: 32, 64 or 128
  std::int64_t contour;  ///< paddles: 6, 9 or 14
  std::uint64_t seed;
};

/// Generates the pictures of all splits, one split after another. One of pictures 2i and 2i + 1 is connected. A picture depends
/// only on the settings, its split and its index in the split, not on threads or sizes. Throws std::invalid_argument if
/// GeneratorSettings does not list the side or contour.
Pictures generate(const GeneratorSettings& settings, const std::array<std::int64_t, 3>& sizes, int threads);

/// Returns all inputs of generate() except sizes, and the generator's version, as a text. Equal texts mean equal pictures.
std::string to_text(const GeneratorSettings& settings);

}  // namespace ablate::pathfinder
