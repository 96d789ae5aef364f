// The words of three splits.
#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "languages.h"

namespace ablate::formal {

struct Lengths {
  std::int64_t shortest, longest;  ///< both are multiples of the language's step
};

class Words {
 public:
  /// @param language must outlive this object
  /// @param lengths one range per split
  /// Throws std::invalid_argument if a split includes the shortest length of any split, and has no word of this length.
  Words(const Language& language, const std::array<Lengths, 3>& lengths, std::uint64_t seed);

  const Lengths& of(Split split) const { return lengths_[static_cast<std::size_t>(split)]; }

  /// Draws a word. Every length of the split is equally likely, and so is every word of the split with that length.
  Row draw(Split split, std::mt19937_64& random) const;

  /// Returns the start of the slice that contains `length`: the longest training length, doubled or halved as often as needed.
  /// A slice has the lengths from its start up to, but without, twice its start.
  std::int64_t slice_of(std::int64_t length) const;

 private:
  bool has(Split split, std::int64_t length) const;
  bool belongs_to(Split split, const Ids& ids) const;
  Row find(Split split, std::int64_t length, std::mt19937_64& random) const;

  const Language& language_;
  std::array<Lengths, 3> lengths_;
};

}  // namespace ablate::formal
