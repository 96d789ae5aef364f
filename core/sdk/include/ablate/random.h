// Random numbers that are the same on every machine, and splits drawn by a seed. Torch-free.
//
// The standard fixes what std::seed_seq and std::mt19937_64 yield, but neither its distributions nor std::shuffle.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

namespace ablate {

/// A generator of its own for each seed and words, so that examples can be made in any order and by any thread. Of a word the
/// lower 32 bits count: a number that may be greater is two, number and number >> 32.
std::mt19937_64 generator(std::uint64_t seed, std::initializer_list<std::uint64_t> words);

/// In [0, end), end from 1 to 2^32: as even as 32 bits are.
inline std::uint64_t below(std::uint64_t end, std::mt19937_64& random) { return (random() >> 32) * end >> 32; }

/// In [first, end): the same for ids.
inline std::int64_t one_of(std::int64_t first, std::int64_t end, std::mt19937_64& random) {
  return first + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(end - first), random));
}

/// A permutation of what has size() and []: each as likely (Fisher and Yates).
template <class Items>
void shuffle(Items& items, std::mt19937_64& random) {
  for (auto i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i, random)]);
}

/// Numbers of examples, as digests have them.
using Places = std::vector<std::uint32_t>;

/// The numbers [0, count) dealt to train, dev and test, which get as many as they say, and train the rest; each in an order of
/// its own. Equal numbers give equal splits, and another seed others. Throws std::invalid_argument where nothing is left to
/// train.
std::array<Places, 3> split_by_seed(std::size_t count, std::size_t dev, std::size_t test, std::uint64_t seed);

}  // namespace ablate
