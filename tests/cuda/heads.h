// Arrays of numbers that kernels read and write in tests. The layout is contiguous, or token-major like the output of
// projections. Kernels must not change the gaps between tokens. With the address sanitizer, no memory follows the last number,
// so that the sanitizer reports accesses past it.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "core/kernels/cuda/numbers.h"
#include "tests/cuda/memory.h"

namespace ablate::kernels::cuda {

inline float value_of(float x) { return x; }
inline float value_of(Bf16 x) {
  const std::uint32_t bits = std::uint32_t{x.bits} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline void set_value(float& to, double x) { to = static_cast<float>(x); }
/// Rounds towards 0. The reference and the kernel then read the same bfloat16 number, however kernels round.
inline void set_value(Bf16& to, double x) {
  const auto value = static_cast<float>(x);
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  to.bits = static_cast<std::uint16_t>(bits >> 16);
}

template <class T>
struct Numbers {
  std::int64_t batch, heads, tokens, channels;
  bool token_major;
  Vector<T> data;

  static constexpr std::int64_t kGap = 3;  ///< numbers after a token's heads
#ifdef __SANITIZE_ADDRESS__
  static constexpr std::int64_t kTail = 0;
#else
  static constexpr std::int64_t kTail = 16;  ///< numbers after the last token
#endif

  Numbers(std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t c, bool by_token)
      : batch(b), heads(h), tokens(n), channels(c), token_major(by_token) {
    const auto size = b * n * (h * c + (by_token ? kGap : 0));
    data.resize(static_cast<std::size_t>((size > 0 && by_token ? size - kGap : size) + kTail));
    for (auto& one : data) set_value(one, std::nan(""));
  }

  Heads<T> view() { return {data.data(), stride(0), stride(1), stride(2)}; }
  Heads<const T> read() {
    const auto of = view();
    return {of.data, of.batch, of.head, of.token};
  }
  /// Returns the distance in numbers between items (0), heads (1) or tokens (2).
  std::int64_t stride(int of) const {
    const auto row = token_major ? heads * channels + kGap : channels;
    if (of == 2) return row;
    if (of == 1) return token_major ? channels : tokens * channels;
    return token_major ? tokens * row : heads * tokens * channels;
  }
  std::size_t index(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t c) const {
    return static_cast<std::size_t>(b * stride(0) + h * stride(1) + t * stride(2) + c);
  }
  double at(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t c) { return value_of(data[index(b, h, t, c)]); }

  void each(const std::function<void(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& f) const {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t t = 0; t < tokens; ++t)
          for (std::int64_t c = 0; c < channels; ++c) f(b, h, t, c);
  }
  Numbers& fill(unsigned seed, double deviation = 1, double mean = 0) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(mean, deviation);
    each([&](auto b, auto h, auto t, auto c) { set_value(data[index(b, h, t, c)], normal(generator)); });
    return *this;
  }
  /// True if the memory between and after the numbers is unchanged.
  bool gaps_untouched() const {
    std::vector<T> all(data.size());
    for (auto& one : all) set_value(one, std::nan(""));
    std::vector<bool> ours(data.size());
    each([&](auto b, auto h, auto t, auto c) { ours[index(b, h, t, c)] = true; });
    for (std::size_t i = 0; i < data.size(); ++i)
      if (!ours[i] && std::memcmp(&data[i], &all[i], sizeof(T)) != 0) return false;
    return true;
  }
};

/// Reference numbers in float64, [batch, heads, tokens, channels].
struct Exact {
  std::int64_t batch, heads, tokens, channels;
  std::vector<double> data;
  Exact(std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t c)
      : batch(b), heads(h), tokens(n), channels(c), data(static_cast<std::size_t>(b * h * n * c)) {}
  double& at(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t c) {
    return data[static_cast<std::size_t>(((b * heads + h) * tokens + t) * channels + c)];
  }
};

/// Returns the largest difference, divided by the larger of `least` and the largest expected number; infinity if a number
/// is NaN.
template <class T>
double worst(Numbers<T>& found, Exact& expected, double least = 1e-30) {
  double most = 0, largest = least;
  found.each([&](auto b, auto h, auto t, auto c) {
    const double difference = std::abs(found.at(b, h, t, c) - expected.at(b, h, t, c));
    most = std::isnan(difference) ? INFINITY : std::max(most, difference);
    largest = std::max(largest, std::abs(expected.at(b, h, t, c)));
  });
  return most / largest;
}

/// True if all bits are equal, also the bits of NaNs.
template <class A, class B>
bool same_bits(const A& a, const B& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

}  // namespace ablate::kernels::cuda
