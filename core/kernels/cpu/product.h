// What the CPU forms are handed of LibTorch, so that they include nothing of it: inline functions of a header that is compiled
// for AVX-512 must not be the ones that the linker keeps for a machine without it.
#pragma once

namespace ablate::kernels::cpu {

/// C [m, n] (+)= A [m, k] B [k, n], row-major float32 with rows `lda`, `ldb`, `ldc` apart.
using Product = void (*)(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc, bool add);

constexpr int kLanes = 16;  ///< floats of a vector, whatever the instructions: narrower ones take two
constexpr int kTile = 64;   ///< tokens that are computed together; what a layer makes of them stays in the cache

}  // namespace ablate::kernels::cpu
