// [grid.match] solved: each setting of the grid gets the width at which it has as many parameters, or bytes of state, as its
// reference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/host/study/schema.h"
#include "core/host/study/study.h"

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

/// Finds a width for each setting that is no reference, and adds them to the draft's groups, before the seeds: as if the study
/// had written them. The reference of a setting is the one that differs from it in those parts of the grid alone that set a
/// path which the study names it by. Reports a setting that has none or several, a width that cannot be solved for, and one
/// that a rule of the grid names.
/// @param draft with a match, its paths checked @param count none: reported
std::vector<MatchedSetting> add_matched(Draft& draft, const Schema& schema, const CountSizes& count, Diagnostics& diagnostics);

}  // namespace ablate
