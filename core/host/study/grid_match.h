// [grid.match] as written: a number that all settings are to share with a reference, and what is solved for. What is found,
// matching.h tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/host/study/document.h"
#include "core/records/study_match.h"

namespace ablate {

struct GridMatch {
  StudyMatch asked;
  Location where;                   ///< of the table
  Location reference_at, width_at;  ///< of the two values
};

/// Nothing, and diagnostics, where it cannot be read.
std::optional<GridMatch> read_match(const Node& node, Diagnostics& diagnostics);

/// Whether an override sets what is solved for: then nothing is matched.
bool is_set_by(const std::vector<std::string>& overrides, const GridMatch& match);

/// What a study that was read without an error asks for; nothing where it matches nothing. @param text of the study
std::optional<StudyMatch> match_of(const std::string& text, const std::string& file, const std::vector<std::string>& overrides);

}  // namespace ablate
