// Random numbers that are the same on every machine, and splits by a seed. Torch-free.
//
// The standard fixes the results of std::seed_seq and std::mt19937_64. Results of distributions and std::shuffle may differ.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

namespace ablate {

/// Returns a separate generator for each pair of seed and words, so that any thread can make examples in any order. Only the
/// lower 32 bits of a word count: pass a larger number as two words, number and number >> 32.
std::mt19937_64 generator(std::uint64_t seed, std::initializer_list<std::uint64_t> words);

/// Returns a number in [0, end), end from 1 to 2^32. The distribution is as even as 32 bits allow.
inline std::uint64_t below(std::uint64_t end, std::mt19937_64& random) { return (random() >> 32) * end >> 32; }

/// Returns a number in [first, end), for ids.
inline std::int64_t one_of(std::int64_t first, std::int64_t end, std::mt19937_64& random) {
  return first + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(end - first), random));
}

/// Shuffles items with size() and []: each permutation is equally likely (Fisher and Yates).
template <class Items>
void shuffle(Items& items, std::mt19937_64& random) {
  for (auto i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i, random)]);
}

/// Indices of examples, in the type that digests use.
using Places = std::vector<std::uint32_t>;

/// Shuffles the indices [0, count) by the seed. Then `dev` of the shuffled indices are for dev, `test` of them for test,
/// and the rest for train. Equal arguments give equal splits. Throws std::invalid_argument if no index is left for train.
std::array<Places, 3> split_by_seed(std::size_t count, std::size_t dev, std::size_t test, std::uint64_t seed);

}  // namespace ablate
