// Softmax of my-method on a device: no torch, only raw pointers, sizes and a stream (a cudaStream_t).
#pragma once

#include <cstdint>

namespace my_method {

/// weights = softmax(scores) over the keys that are not hidden, row by row; a row with only hidden keys is 0.
/// @param scores, weights [rows, keys]
/// @param hidden [rows / rows_each, keys], or null: no key is hidden. Row r uses line r / rows_each.
/// @return nullptr, or CUDA's error
const char* softmax(const float* scores, const bool* hidden, float* weights, std::int64_t rows, std::int64_t keys,
                    std::int64_t rows_each, void* stream);

/// Computes the gradient of softmax(), d_scores = weights (d_weights - sum over keys of weights d_weights); all [rows, keys].
const char* softmax_gradient(const float* weights, const float* d_weights, float* d_scores, std::int64_t rows,
                             std::int64_t keys, void* stream);

}  // namespace my_method
