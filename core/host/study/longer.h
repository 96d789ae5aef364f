// [grid.longer]: trials that repeat reported trials with more steps, to show whether a result depends on the number of steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/host/study/draft.h"
#include "core/host/study/resolver.h"

namespace ablate {

/// Reads [grid.longer]. Returns nullopt, and adds diagnostics, if it has an error.
std::optional<LongerDraft> read_longer(const Node& node, Diagnostics& diagnostics);

/// Completes Draft::longer after the overrides. If [grid.longer] sets no seeds, it gets the first two reported seeds. If an
/// override sets the reported seeds, the control loses its seeds that are not among them. Adds an error for a seed that is not
/// reported, for steps that the grid varies, and for a missing [experiment] smallest.
void check_longer(Draft& draft, Diagnostics& diagnostics);

/// Returns the trial with more steps if its seed is one of Draft::longer. The trial has Role::kLonger, and the cell and the
/// value of `reported`. Returns nullopt for other seeds, and, with a diagnostic, if the steps would be too many.
std::optional<Trial> longer_of(const Draft& draft, const Trial& reported, Resolver& resolver, Diagnostics& diagnostics);

/// Returns [experiment] smallest of a study's stored text; 0 if it is missing or invalid.
/// @param file path of the study
/// @param overrides in the syntax of load_study
double smallest_of(const std::string& text, const std::string& file, const std::vector<std::string>& overrides);

}  // namespace ablate
