// [grid.match] as written: a number that all settings must share with a reference, and the width to solve for (matching.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/host/study/document.h"
#include "core/records/study_match.h"

namespace ablate {

struct GridMatch {
  StudyMatch asked;
  Location where;                   ///< location of the table
  Location reference_at, width_at;  ///< locations of the reference and of the width
};

/// Returns nullopt, and adds diagnostics, if the node has an error.
std::optional<GridMatch> read_match(const Node& node, Diagnostics& diagnostics);

/// True if an override sets the width: then nothing is matched.
bool is_set_by(const std::vector<std::string>& overrides, const GridMatch& match);

/// Returns [grid.match] of a study's text, which must have no error. Returns nullopt if there is none, or if is_set_by().
std::optional<StudyMatch> match_of(const std::string& text, const std::string& file, const std::vector<std::string>& overrides);

}  // namespace ablate
