// Solves [grid.match]: each setting of the grid gets the width at which its parameters, or bytes of state, match its reference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/host/study/schema.h"
#include "core/host/study/study.h"

namespace ablate {

/// Result of counting a model of one width.
struct CountedWidth {
  std::int64_t number = 0;
  std::string refused;  ///< why the model is impossible; "" if it is possible
  bool operator==(const CountedWidth&) const = default;
};

struct FoundWidth {
  std::int64_t width = 0, number = 0;
  std::string failed;  ///< why no width fits: "found ..., expected ..."; "" if a width fits
};

struct WidthRange {
  std::int64_t least, most;
};

/// Returns `begin` if its number is matched (study_match.h), so that settings which match at one width keep it. Otherwise
/// returns the accepted width whose number is nearest to the target, the smallest of equally near widths. The number must only
/// grow or only fall with the width. Accepted widths must be evenly spaced (multiples of the heads). A refused width ends the
/// search on its side.
/// @param begin in the range; widths beside it are tried first, then widths twice and half as large
/// @param count returns the counts of some widths, in order; at most kMostCounts widths in all
FoundWidth find_width(const WidthRange& range, std::int64_t begin, std::int64_t target,
                      const std::function<std::vector<CountedWidth>(const std::vector<std::int64_t>& widths)>& count);

inline constexpr std::size_t kMostCounts = 64;

/// Finds a width for each setting except references, and adds the widths to the draft's groups, before the seeds. The draft
/// must have a match with checked paths. A setting and its reference differ only in groups of the grid that set a path named in
/// [grid.match] reference. Reports a missing `count`, a setting without a reference or with several references, a width that
/// cannot be found, and a width that a rule of the grid names.
std::vector<MatchedSetting> add_matched(Draft& draft, const Schema& schema, const CountSizes& count, Diagnostics& diagnostics);

}  // namespace ablate
