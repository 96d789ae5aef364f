// Layout of the positions of a sequence in a picture. Torch-free.
#pragma once

#include <cstdint>

namespace ablate {

/// A sequence has rows x columns x channels positions, channels innermost; 0 rows: no picture.
struct Geometry {
  std::int64_t rows = 0, columns = 0, channels = 1;
};

}  // namespace ablate
