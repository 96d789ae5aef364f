#include <immintrin.h>

#include "core/kernels/cpu/bfloat16.h"
#include "core/kernels/cpu/product.h"

namespace ablate::kernels::cpu::avx512_bf16 {

void round_rows(int rows, int columns, const float* from, int row, std::uint16_t* to) {
  for (int i = 0; i < rows; ++i, from += row, to += columns)
    for (int j = 0; j < columns; j += kLanes) {
      const auto rounded = _mm512_cvtneps_pbh(_mm512_loadu_ps(from + j));
      __builtin_memcpy(to + j, &rounded, sizeof rounded);
    }
}

void round_pairs(int rows, int columns, const float* from, int row, std::uint16_t* to) {
  alignas(64) std::uint16_t order[2 * kLanes];  // alternates between the two rows
  for (int i = 0; i < 2 * kLanes; ++i) order[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * kLanes);
  const auto interleaved = _mm512_load_si512(order);
  for (int i = 0; i < rows; i += 2, from += 2 * row, to += 2 * columns)
    for (int j = 0; j < columns; j += kLanes) {
      const auto rounded = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + row + j), _mm512_loadu_ps(from + j));
      __m512i both;
      __builtin_memcpy(&both, &rounded, sizeof both);
      _mm512_storeu_si512(to + 2 * j, _mm512_permutexvar_epi16(interleaved, both));
    }
}

}  // namespace ablate::kernels::cpu::avx512_bf16
