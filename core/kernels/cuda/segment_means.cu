// Segment means. Each thread computes a channel of a mean, or of a token in the backward pass, so that neighbouring threads
// read neighbouring numbers. Each token's number is read or written once, so no shared memory is needed.
#include "core/kernels/cuda/mma.h"
#include "core/kernels/cuda/segment_means.h"

namespace ablate::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kSharedBytes = 0;  // the most that a block uses
static_assert(kSharedBytes <= 48 << 10, "every device gives a block 48 KiB");

template <class T>
struct Means {
  SegmentMeans<T> of;
  Heads<const T> from;
  Heads<T> to;
  float* mass;         ///< output, or nullptr
  const float* known;  ///< mass of the forward pass, or nullptr
};

/// Tokens of segment `piece` that the sequence's mask counts.
struct Segment {
  std::int64_t begin, end;
  const bool* mask;
  template <class T>
  __device__ Segment(const SegmentMeans<T>& of, std::int64_t batch, std::int64_t piece)
      : begin(piece * of.length),
        end(begin + of.length < of.shape.tokens ? begin + of.length : of.shape.tokens),
        mask(of.mask == nullptr ? nullptr : of.mask + batch * of.shape.tokens) {}
  __device__ bool counts(std::int64_t token) const { return mask == nullptr || mask[token]; }
  __device__ float count() const {
    if (mask == nullptr) return static_cast<float>(end - begin);
    std::int64_t sum = 0;
    for (auto token = begin; token < end; ++token) sum += counts(token);
    return static_cast<float>(sum);
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) means(Means<T> call, std::int64_t count) {
  const auto i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;  // [batch, heads, pieces, d]
  if (i >= count) return;
  const auto& of = call.of;
  const auto slots = pieces(of.shape.tokens, of.length);
  const auto c = i % of.d, piece = i / of.d % slots, head = i / of.d / slots % of.shape.heads;
  const auto batch = i / of.d / slots / of.shape.heads;
  const Segment segment(of, batch, piece);
  const T* from = call.from.data + batch * call.from.batch + head * call.from.head + c;
  float sum = 0;
  std::int64_t counted = 0;
  for (auto token = segment.begin; token < segment.end; ++token)
    if (segment.counts(token)) sum += number(from[token * call.from.token]), ++counted;
  const auto tokens = static_cast<float>(counted);
  put(call.to.data + batch * call.to.batch + head * call.to.head + piece * call.to.token + c, tokens > 0 ? sum / tokens : 0.f);
  if (call.mass != nullptr && head == 0 && c == 0) call.mass[batch * slots + piece] = tokens;
}

template <class T>
__global__ void __launch_bounds__(kThreads) spread(Means<T> call, std::int64_t count) {
  const auto i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;  // [batch, heads, tokens, d]
  if (i >= count) return;
  const auto& of = call.of;
  const auto c = i % of.d, token = i / of.d % of.shape.tokens, head = i / of.d / of.shape.tokens % of.shape.heads;
  const auto batch = i / of.d / of.shape.tokens / of.shape.heads, piece = token / of.length;
  const Segment segment(of, batch, piece);
  T* to = call.to.data + batch * call.to.batch + head * call.to.head + token * call.to.token + c;
  if (!segment.counts(token)) return put(to, 0);
  const float of_mean = number(call.from.data[batch * call.from.batch + head * call.from.head + piece * call.from.token + c]);
  const auto slots = pieces(of.shape.tokens, of.length);
  put(to, of_mean / (call.known != nullptr ? call.known[batch * slots + piece] : segment.count()));
}

template <class T>
const char* wrong(const SegmentMeans<T>& of) {
  if (of.shape.batch < 0 || of.shape.heads < 1 || of.shape.tokens < 0 || of.d < 1)
    return "segment means: found a size below 0, no head or no channel";
  return of.length < 1 ? "segment means: expected segments of 1 token or more" : nullptr;
}

template <class T>
const char* forward(const SegmentMeans<T>& of, const Heads<const T>& x, const Heads<T>& to, float* mass, void* stream) {
  if (const auto* error = wrong(of)) return error;
  const auto count = of.shape.batch * of.shape.heads * pieces(of.shape.tokens, of.length) * of.d;
  return launch(means<T>, pieces(count, kThreads), kThreads, 0, stream, Means<T>{of, x, to, mass, nullptr}, count);
}

template <class T>
const char* backward(const SegmentMeans<T>& of, const Heads<const T>& d_means, const float* mass, const Heads<T>& d_x,
                     void* stream) {
  if (const auto* error = wrong(of)) return error;
  const auto count = of.shape.batch * of.shape.heads * of.shape.tokens * of.d;
  return launch(spread<T>, pieces(count, kThreads), kThreads, 0, stream, Means<T>{of, d_means, d_x, nullptr, mass}, count);
}

}  // namespace

template <>
const char* segment_means(const SegmentMeans<float>& of, const Heads<const float>& x, const Heads<float>& to, float* mass,
                          void* stream) {
  return forward(of, x, to, mass, stream);
}
template <>
const char* segment_means(const SegmentMeans<Bf16>& of, const Heads<const Bf16>& x, const Heads<Bf16>& to, float* mass,
                          void* stream) {
  return forward(of, x, to, mass, stream);
}
template <>
const char* segment_means_backward(const SegmentMeans<float>& of, const Heads<const float>& d_means, const float* mass,
                                   const Heads<float>& d_x, void* stream) {
  return backward(of, d_means, mass, d_x, stream);
}
template <>
const char* segment_means_backward(const SegmentMeans<Bf16>& of, const Heads<const Bf16>& d_means, const float* mass,
                                   const Heads<Bf16>& d_x, void* stream) {
  return backward(of, d_means, mass, d_x, stream);
}

}  // namespace ablate::kernels::cuda
