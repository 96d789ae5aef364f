// Lengths at which code with blocks takes different paths, for attentions and compressions alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ablate::conformance {

/// Turning lengths, at which code may take another path: multiples of 16, 64, 128 and 256, one token past a block, and a prime.
/// More lengths of the same kinds cost a pass each and find the same faults. many_lengths() has more lengths, in one batch.
inline constexpr std::int64_t kTurning[] = {48, 64, 67, 128, 129, 256};
/// Plain lengths are of none of these kinds. The longest plain length is above all turning lengths.
inline constexpr std::int64_t kPlain[] = {6, 10, 22, 38, 58, 86, 122, 154, 250, 262};
/// First length of the check "long". If a state is carried, also the last length.
inline constexpr std::int64_t kThousand = 1003;
/// Length beyond 2,048, the longest usual size of tables and blocks.
inline constexpr std::int64_t kBeyond = 2113;

/// Returns kBeyond, and the length that the user requested if it differs.
template <class Subject>
std::vector<std::int64_t> lengths_beyond(const Subject& subject) {
  const auto usual = subject.length(kBeyond), asked = subject.candidate().requested_length;
  if (asked == 0 || subject.length(asked) == usual) return {usual};
  return {usual, subject.length(asked)};
}

/// Returns the longer one of the usual length and the requested length.
template <class Candidate>
std::int64_t longest_looked_at(const Candidate& candidate, std::int64_t usual) {
  return candidate.length(std::max(usual, candidate.requested_length));
}

/// Returns the subject's length for each of `all` (subject.length), in the order of `all`. Returns equal lengths once.
template <class Subject>
std::vector<std::int64_t> lengths_for(const Subject& subject, const std::vector<std::int64_t>& all) {
  std::vector<std::int64_t> own;
  for (const auto one : all)
    if (const auto n = subject.length(one); std::find(own.begin(), own.end(), n) == own.end()) own.push_back(n);
  return own;
}

/// Returns lengths for a batch padded to the turning length n: n itself, and the two longest plain lengths below n.
inline std::vector<std::int64_t> plain_below(std::int64_t n) {
  std::vector<std::int64_t> all = {n};
  for (auto one = std::rbegin(kPlain); one != std::rend(kPlain) && all.size() < 3; ++one)
    if (*one < n) all.push_back(*one);
  return all;
}

/// Returns sixteen lengths for a batch padded to 262 tokens. Most of them are turning lengths.
inline const std::vector<std::int64_t>& many_lengths() {
  static const std::vector<std::int64_t> all = {262, 256, 255, 193, 192, 131, 129, 128, 127, 97, 67, 65, 64, 63, 48, 32};
  return all;
}

/// Returns the borders of blocks, all below n.
/// @param first the first border; 0: the end of the first block
inline std::vector<std::int64_t> every_border(std::int64_t n, std::int64_t block = 1, std::int64_t first = 0) {
  std::vector<std::int64_t> all;
  for (auto k = first > 0 ? first : block; k < n; k += block) all.push_back(k);
  return all;
}

/// Returns the borders of blocks, and the places before and after each border. To check all places of 300 tokens or more would
/// take longer than all other checks.
inline std::vector<std::int64_t> borders_of_blocks(std::int64_t n, std::int64_t block) {
  std::vector<std::int64_t> all;
  for (std::int64_t k = 1; k < n; ++k)
    if (k % block == 0 || k % block == 1 || k % block == block - 1) all.push_back(k);
  return all;
}

/// Returns every 23rd place from `first` on, `first` in 1..23, so that every tile of 24 tokens contains a returned place.
inline std::vector<std::int64_t> spread_borders(std::int64_t n, std::int64_t first) { return every_border(n, 23, first); }

/// Returns the lengths from `most` down to 1.
inline std::vector<std::int64_t> every_length(std::int64_t most) {
  std::vector<std::int64_t> all;
  for (auto n = most; n > 0; --n) all.push_back(n);
  return all;
}

}  // namespace ablate::conformance
