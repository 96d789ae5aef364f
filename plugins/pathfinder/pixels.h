#pragma once

#include <cstdint>
#include <vector>

#include "drawing.h"

namespace ablate::pathfinder {

/// Draws in grey, [side, side] by rows: 0 background, paddles in the form's grey, circles 255. A pixel's brightness is scaled
/// by the share of its 4 x 4 points that are covered.
std::vector<std::uint8_t> to_pixels(const Drawing& drawing, const Form& form);

}  // namespace ablate::pathfinder
