// Compression rates as exact fractions. Torch-free.
#pragma once

#include <cstdint>
#include <numeric>

namespace ablate {

/// Compression rate c in (0, 1], a fraction in lowest terms: a sequence of n tokens is stored in ceil(c n) slots (AdaMRA,
/// section 3.2). The fraction is exact, because 1/3 as a double would put token 3 k of some sequences into the wrong segment.
struct Rate {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;

  /// ceil(rate * n): the number of slots for n >= 0 tokens; at least 1 for n >= 1. Exact while n * numerator fits 63 bits.
  constexpr std::int64_t slots(std::int64_t n) const { return (n * numerator + denominator - 1) / denominator; }

  /// floor(rate * position): the slot of the token at a position. It does not depend on the sequence's length, so padding does
  /// not change how a sequence is cut. Always below slots(position + 1).
  constexpr std::int64_t slot_of(std::int64_t position) const { return position * numerator / denominator; }

  constexpr double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }

  constexpr bool operator==(const Rate&) const = default;
};

/// Returns the rate in lowest terms, the form that the host uses. Both parts are positive.
constexpr Rate reduced(Rate rate) {
  const std::int64_t divisor = std::gcd(rate.numerator, rate.denominator);
  return divisor > 1 ? Rate{rate.numerator / divisor, rate.denominator / divisor} : rate;
}

/// Number of slots that a compression uses for a sequence: a rate's share, or a fixed number.
struct Slots {
  Rate rate;
  std::int64_t fixed = 0;  ///< at least 1; 0: by the rate

  /// Returns the slots of a memory of n >= 0 tokens: rate.slots(n), or the fixed number, even if there are fewer tokens.
  constexpr std::int64_t of(std::int64_t n) const { return fixed > 0 ? fixed : rate.slots(n); }

  constexpr bool operator==(const Slots&) const = default;
};

}  // namespace ablate
