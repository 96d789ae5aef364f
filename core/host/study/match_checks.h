// What can be said of a [grid.match] before anything is counted.
#pragma once

#include <string>

#include "core/host/study/schema.h"

namespace ablate {

void refuse_match_width(const GridMatch& match, Diagnostics& diagnostics, const std::string& why);

/// Reports a width that is no whole number of a model or an attention, and one that the grid or a rule of it names. @param
/// draft with a match
void check_match_width(const Draft& draft, const Schema& schema, Diagnostics& diagnostics);

/// The settings by which the reference is named, as a rule of the grid.
Rule match_reference(const GridMatch& match, const Schema& schema, Diagnostics& diagnostics);

}  // namespace ablate
