// Function type through which CPU forms call LibTorch's product, so that the forms include none of LibTorch's headers. Inline
// functions of these headers would be compiled for AVX-512, and could be linked into code for a machine without AVX-512.
#pragma once

namespace ablate::kernels::cpu {

/// C [m, n] (+)= A [m, k] B [k, n], row-major float32 with rows `lda`, `ldb` and `ldc` floats apart.
using Product = void (*)(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc, bool add);

constexpr int kLanes = 16;  ///< floats in a vector of every instruction set; a narrower set uses two registers
constexpr int kTile = 64;   ///< tokens that are computed together, so that a layer's intermediate numbers stay in the cache

}  // namespace ablate::kernels::cpu
