// [grid.match] solved: each setting of the grid gets the width at which it has as many parameters, or bytes of state, as its
// reference.
#pragma once

#include <vector>

#include "core/host/study/schema.h"
#include "core/host/study/study.h"

namespace ablate {

/// Finds a width for each setting that is no reference, and adds them to the draft's groups, before the seeds: as if the study
/// had written them. The reference of a setting is the one that differs from it in those parts of the grid alone that set a
/// path which the study names it by. Reports a setting that has none or several, a width that cannot be solved for, and one
/// that a rule of the grid names.
/// @param draft with a match, its paths checked @param count none: reported
std::vector<MatchedSetting> add_matched(Draft& draft, const Schema& schema, const CountSizes& count, Diagnostics& diagnostics);

}  // namespace ablate
