// Numbers rounded to bfloat16, as products of it want them: to the nearest, of two as near to the even one; NaN stays NaN.
#pragma once

#include <cstdint>

namespace ablate::kernels::cpu {

/// @param from [rows, columns], `row` apart @param columns a multiple of kLanes @param to [rows, columns] for round_rows; for
/// round_pairs [rows / 2, columns, 2]: two rows' numbers of a column stand together. There `rows` is even
using RoundRows = void (*)(int rows, int columns, const float* from, int row, std::uint16_t* to);

namespace avx512_bf16 {  // AVX-512 BF16, which processors with AMX have, too
void round_rows(int rows, int columns, const float* from, int row, std::uint16_t* to);
void round_pairs(int rows, int columns, const float* from, int row, std::uint16_t* to);
}  // namespace avx512_bf16

}  // namespace ablate::kernels::cpu
