// Random numbers that tests/peers/draws.py computes in the same way, so that the numbers need not be stored.
#pragma once

#include <cstdint>
#include <vector>

namespace ablate::db {

/// A linear congruential generator (Knuth's MMIX).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t whole(std::uint64_t below) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % below;
  }
  /// Returns multiples of 1/1024 between 0 and 1, plus shift / 1024. Their sums are exact.
  std::vector<double> values(std::uint64_t count, std::uint64_t shift) {
    std::vector<double> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(static_cast<double>(whole(1025) + shift) / 1024);
    return all;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ablate::db
