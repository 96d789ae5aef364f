// Effect of each parameter of a grid on its metrics, from the table of its settings. No SQLite.
#pragma once

#include <string>
#include <vector>

#include "db/types/effects.h"

namespace ablate::db {

/// Splits "attention=softmax,attention.rates=1/2,1/4" into conditions. A piece without "=" belongs to the value before it.
std::vector<std::string> reference_conditions(const std::string& text);

/// Returns the effects on each metric.
/// - Marginal means: matched_means of each value, matched by all other parameters and the seed. A parameter's own parameters
/// (attention.rates of attention) need not match: each value is averaged over them. Training parameters with one value for each
/// setting of the other parameters need not match either. Trials without the parameter are excluded. Values without common
/// settings get no estimate.
/// - Importance: the share of the variance between the settings' means (over seeds, each with equal weight) that the parameter
/// explains by itself. On a full grid it is the main effect in the functional ANOVA (Hutter, Hoos and Leyton-Brown 2014,
/// section 3). Otherwise it is the least-squares share of type II: what the parameter explains beyond all other parameters that
/// are not its own. These shares need not add up to 1. On a full grid both definitions agree.
/// - Changes: compared as by --against (db/report/comparisons.h), with Holm's correction over all changes and metrics.
/// @param settings one row for each setting and no columns; receives the notes of the tests
/// @param reference conditions that exactly one row must meet (else throws Error with the nearest name); empty: no changes
std::vector<Effects> effects_of(Table& settings, const std::vector<std::string>& reference);

}  // namespace ablate::db
