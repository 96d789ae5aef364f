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

/// Completes Draft::longer after the overrides: its seeds are the first two reported seeds if it sets none. If an override sets
/// the reported seeds, the other seeds are dropped. Reports seeds that are not reported, steps that the grid varies, and
/// [experiment] smallest if it is missing.
void check_longer(Draft& draft, Diagnostics& diagnostics);

/// Returns the trial with more steps if its seed is one of Draft::longer. The trial has Role::kLonger, and the cell and the
/// value of `reported`. Returns nullopt, and adds a diagnostic, if it would have too many steps.
std::optional<Trial> longer_of(const Draft& draft, const Trial& reported, Resolver& resolver, Diagnostics& diagnostics);

/// Returns [experiment] smallest of a study's stored text; 0 if it is missing or invalid.
/// @param file path of the study
/// @param overrides as for load_study
double smallest_of(const std::string& text, const std::string& file, const std::vector<std::string>& overrides);

}  // namespace ablate
