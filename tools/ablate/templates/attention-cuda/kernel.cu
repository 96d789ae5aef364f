// One warp for each row; each of its lanes processes every 32nd key.
#include <cmath>

#include "ablate/cuda/launch.h"
#include "kernel.h"

namespace my_method {
namespace {

constexpr int kLanes = 32, kThreads = 256;
constexpr unsigned kAll = ~0U;

__device__ float sum_of_lanes(float x) {
  for (int by = kLanes / 2; by > 0; by /= 2) x += __shfl_xor_sync(kAll, x, by);
  return x;
}

__device__ float most_of_lanes(float x) {
  for (int by = kLanes / 2; by > 0; by /= 2) x = fmaxf(x, __shfl_xor_sync(kAll, x, by));
  return x;
}

__device__ std::int64_t own_row() { return (std::int64_t{kThreads} * blockIdx.x + threadIdx.x) / kLanes; }

__global__ void __launch_bounds__(kThreads) softmax_rows(const float* scores, const bool* hidden, float* weights,
                                                         std::int64_t rows, std::int64_t keys, std::int64_t rows_each) {
  const std::int64_t row = own_row();
  if (row >= rows) return;  // all lanes of a warp have the same row
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  const float* const from = scores + row * keys;
  float* const to = weights + row * keys;
  const bool* const hides = hidden == nullptr ? nullptr : hidden + row / rows_each * keys;
  const auto is_hidden = [=](std::int64_t key) { return hides != nullptr && hides[key]; };
  float most = -INFINITY, sum = 0;
  for (std::int64_t key = lane; key < keys; key += kLanes)
    if (!is_hidden(key)) most = fmaxf(most, from[key]);
  most = most_of_lanes(most);
  for (std::int64_t key = lane; key < keys; key += kLanes)
    if (!is_hidden(key)) sum += expf(from[key] - most);
  sum = sum_of_lanes(sum);
  for (std::int64_t key = lane; key < keys; key += kLanes) to[key] = is_hidden(key) ? 0 : expf(from[key] - most) / sum;
}

__global__ void __launch_bounds__(kThreads)
    gradient_rows(const float* weights, const float* d_weights, float* d_scores, std::int64_t rows, std::int64_t keys) {
  const std::int64_t row = own_row();
  if (row >= rows) return;
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  float sum = 0;
  for (std::int64_t key = row * keys + lane; key < (row + 1) * keys; key += kLanes) sum += weights[key] * d_weights[key];
  sum = sum_of_lanes(sum);
  for (std::int64_t key = row * keys + lane; key < (row + 1) * keys; key += kLanes)
    d_scores[key] = weights[key] * (d_weights[key] - sum);
}

std::int64_t blocks_for(std::int64_t rows) { return ablate::cuda::pieces(rows, kThreads / kLanes); }

}  // namespace

const char* softmax(const float* scores, const bool* hidden, float* weights, std::int64_t rows, std::int64_t keys,
                    std::int64_t rows_each, void* stream) {
  return ablate::cuda::launch(softmax_rows, blocks_for(rows), kThreads, 0, stream, scores, hidden, weights, rows, keys,
                              rows_each);
}

const char* softmax_gradient(const float* weights, const float* d_weights, float* d_scores, std::int64_t rows,
                             std::int64_t keys, void* stream) {
  return ablate::cuda::launch(gradient_rows, blocks_for(rows), kThreads, 0, stream, weights, d_weights, d_scores, rows, keys);
}

}  // namespace my_method
