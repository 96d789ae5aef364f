// Rounds numbers to bfloat16 for products: to the nearest, ties to even. NaN stays NaN. Subnormal numbers become 0.
#pragma once

#include <cstdint>

namespace ablate::kernels::cpu {

namespace avx512_bf16 {  // AVX-512 BF16, which processors with AMX have too
/// @param columns a multiple of kLanes
/// @param from [rows, columns], rows `row` floats apart
/// @param to [rows, columns]
void round_rows(int rows, int columns, const float* from, int row, std::uint16_t* to);
/// Rounds pairs of rows into `to` [rows / 2, columns, 2]: the two numbers of a column become neighbours. `rows` is even.
void round_pairs(int rows, int columns, const float* from, int row, std::uint16_t* to);
}  // namespace avx512_bf16

}  // namespace ablate::kernels::cpu
