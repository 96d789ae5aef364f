// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 by the fragment layout of the PTX documentation ("Matrix Fragments for
// mma.m16n8k16 with floating point type"), so that a test finds kernels that use another layout.
#pragma once

#include "ablate/cuda/shim.h"

namespace ablate::shim {

inline float bf16_of(std::uint32_t pair, int which) { return std::bit_cast<float>(pair >> (16 * which) << 16); }

/// d [16, 8] += a [16, 16] b [16, 8]. Lane 4 g + t holds these numbers. From a, pairs of neighbours in a row: rows g, g + 8, g,
/// g + 8 in columns 2 t, 2 t, 2 t + 8, 2 t + 8. From b, pairs in a column: rows 2 t and 2 t + 8 in column g. From d: rows g, g,
/// g + 8, g + 8 in columns 2 t, 2 t + 1, 2 t, 2 t + 1.
inline void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  struct Own {
    std::uint32_t a[4], b[2];
  };
  Own own{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}}, all[kLanes];
  exchange(~0U, &own, sizeof own, all);
  const int lane = static_cast<int>(position().thread.x % kLanes), g = lane / 4, t = lane % 4;
  for (int i = 0; i < 4; ++i) {
    const int row = g + i / 2 * 8, column = 2 * t + i % 2;
    for (int k = 0; k < 16; ++k) {
      const Own &of_a = all[row % 8 * 4 + k % 8 / 2], &of_b = all[column * 4 + k % 8 / 2];
      d[i] += bf16_of(of_a.a[row / 8 + k / 8 * 2], k % 2) * bf16_of(of_b.b[k / 8], k % 2);
    }
  }
}

}  // namespace ablate::shim
