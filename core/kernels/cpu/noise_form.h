// Factors of dropout, 16 numbers at a time.
#pragma once

#include "core/kernels/cpu/noise.h"
#include "core/kernels/cpu/vectors.h"

namespace ablate::kernels::cpu {
namespace {

using U = std::uint32_t __attribute__((vector_size(64)));

ABLATE_INLINE U rotated(U x, int by) { return (x << by) | (x >> (32 - by)); }

std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

struct Generators {
  U s0{}, s1{}, s2{}, s3{};

  explicit Generators(std::uint64_t seed) {
    for (int i = 0; i < kLanes; ++i) {
      const auto a = splitmix(seed), b = splitmix(seed);
      s0[i] = static_cast<std::uint32_t>(a), s1[i] = static_cast<std::uint32_t>(a >> 32);
      s2[i] = static_cast<std::uint32_t>(b), s3[i] = static_cast<std::uint32_t>(b >> 32);
    }
  }

  U next() {
    const U drawn = rotated(s0 + s3, 7) + s0, t = s1 << 9;
    s2 ^= s0, s3 ^= s1, s1 ^= s2, s0 ^= s3, s2 ^= t;
    s3 = rotated(s3, 11);
    return drawn;
  }
};

void noise(std::uint64_t seed, std::int32_t threshold, float kept, std::int64_t count, float* to) {
  Generators generators(seed);
  const auto draw = [&]() __attribute__((always_inline)) {
    return reinterpret_cast<W>(generators.next() >> 1) < threshold ? V{} : all(kept);
  };
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(to + i, draw());
  if (i == count) return;
  const V last = draw();
  for (int lane = 0; i < count; ++i, ++lane) to[i] = last[lane];
}

}  // namespace

}  // namespace ablate::kernels::cpu
