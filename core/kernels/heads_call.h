// Converts tensors of heads to arguments of forms, and shares sequences between threads.
#pragma once

#include "ablate/tensor.h"
#include "ablate/torch_parallel.h"
#include "core/kernels/cpu/heads.h"
#include "core/kernels/cpu/product.h"
#include "core/kernels/mixed_products.h"

namespace ablate::kernels {

/// Returns a view with contiguous channels and any strides of heads and tokens. A single sequence or head is repeated.
template <class T>
cpu::Heads<T> heads_of(const Tensor& x, T* data) {
  const auto stride = [&](std::int64_t dim) { return x.size(dim) == 1 ? 0 : x.stride(dim); };
  return {data, stride(0), stride(1), stride(2)};
}
inline cpu::Heads<const float> read_heads(const Tensor& x) { return heads_of(x, x.const_data_ptr<float>()); }
inline cpu::Heads<float> write_heads(const Tensor& x) {
  return x.defined() ? heads_of(x, x.mutable_data_ptr<float>()) : cpu::Heads<float>();
}

template <class T>
cpu::Heads<T> from_sequence(cpu::Heads<T> heads, std::int64_t sequence) {
  if (heads.data != nullptr) heads.data += sequence * heads.batch;
  return heads;
}

/// Returns uninitialised memory with tokens before heads, as in projections, so that merge_heads() needs no copy.
inline Tensor room_of_heads(const Tensor& like, std::int64_t heads, std::int64_t channels) {
  return empty({like.size(0), like.size(2), heads, channels}, like.options().requires_grad(false)).transpose(1, 2);
}

/// True if forms accept this number of channels of keys or values.
inline bool fused_channels(std::int64_t count) { return count > 0 && count % cpu::kLanes == 0 && count <= 256; }

/// Returns x with contiguous channels and without overlapping tokens: products read tokens as rows of a matrix.
inline Tensor with_rows(const Tensor& x) {
  const bool apart = x.size(2) == 1 || x.stride(2) >= x.size(3);
  return x.size(3) == 1 || (x.stride(3) == 1 && apart) ? x : x.contiguous();
}

/// Calls `work` for each thread with its sequences [begin, end) of `batch`, and with its scratch of `floats` floats.
template <class Work>
void share_sequences(std::int64_t batch, std::int64_t floats, const Work& work) {
  const auto threads = parts_for_threads(batch);
  const auto scratch = empty({threads, floats}, TensorOptions().dtype(kFloat));
  auto* const first = scratch.mutable_data_ptr<float>();
  in_parallel(threads, [&](std::int64_t i) {
    const ShareOfProducts share;
    work(batch * i / threads, batch * (i + 1) / threads, first + i * floats);
  });
}

}  // namespace ablate::kernels
