// The whole number at which a model has as many of something as another: a search of few counts, each of which builds a model.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ablate {

/// What a model of a width has.
struct CountedWidth {
  std::int64_t number = 0;
  std::string refused;  ///< why there is no such model; "": there is
  bool operator==(const CountedWidth&) const = default;
};

struct FoundWidth {
  std::int64_t width = 0, number = 0;
  std::string failed;  ///< why there is none: what was found, and what was expected; "": there is one
};

struct WidthRange {
  std::int64_t least, most;
};

/// `begin` where its number is matched (study_match.h), so that rows differ in no width without need; else the accepted width
/// whose number is nearest to the target's, the smallest of equals. The number has to grow with the width, or to fall. Widths
/// that are accepted lie evenly (multiples of so many heads), and one that is refused ends the search on its side.
/// @param begin in the range; widths beside it are tried first, then those twice and half as large
/// @param count of each of some widths, in their order; asked for kMostCounts at most in all
FoundWidth find_width(const WidthRange& range, std::int64_t begin, std::int64_t target,
                      const std::function<std::vector<CountedWidth>(const std::vector<std::int64_t>& widths)>& count);

inline constexpr std::size_t kMostCounts = 64;

}  // namespace ablate
