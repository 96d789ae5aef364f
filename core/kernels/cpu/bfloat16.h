// Numbers rounded to bfloat16, as products of it want them: to the nearest, of two as near to the even one; NaN stays NaN, and
// what is below 1.2e-38 becomes 0, which these instructions leave no choice about.
#pragma once

#include <cstdint>

namespace ablate::kernels::cpu {

namespace avx512_bf16 {  // AVX-512 BF16, which processors with AMX have, too
/// @param columns a multiple of kLanes @param from [rows, columns], `row` apart @param to [rows, columns]
void round_rows(int rows, int columns, const float* from, int row, std::uint16_t* to);
/// Two rows' numbers of a column stand together. @param rows even @param to [rows / 2, columns, 2]
void round_pairs(int rows, int columns, const float* from, int row, std::uint16_t* to);
}  // namespace avx512_bf16

}  // namespace ablate::kernels::cpu
