#pragma once

#include <cstdint>
#include <vector>

#include "drawing.h"

namespace ablate::pathfinder {

/// Returns the greys of a drawing, [side, side] by rows: background 0, paddles the form's grey, circles 255. A pixel's grey is
/// scaled by the share of its 4 x 4 points that are covered.
std::vector<std::uint8_t> to_pixels(const Drawing& drawing, const Form& form);

}  // namespace ablate::pathfinder
