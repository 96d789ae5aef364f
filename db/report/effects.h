// What each parameter of a grid does to its metrics, from the table of its settings. No SQLite.
#pragma once

#include <string>
#include <vector>

#include "db/types/effects.h"

namespace ablate::db {

/// "attention=softmax,attention.rates=1/2,1/4" -> its conditions: a piece without "=" belongs to the value before it.
std::vector<std::string> reference_conditions(const std::string& text);

/// One for each metric.
///  - Marginal means: matched_means of each value, matched by all other parameters and the seed. A parameter's own
///    (attention.rates of attention) need not match: over them each value is averaged. Nor do parameters of the training that
///    have one value for each setting of the others. Trials without the parameter take no part. Values without common settings
///    are not estimated.
///  - Importance: the share of the variance between the settings' means (over seeds, each with equal weight) that the parameter
///    explains alone. Where every combination of values has a number: its main effect in the functional ANOVA of the grid
///    (Hutter, Hoos and Leyton-Brown 2014, section 3). Else the least-squares share of type II: what it explains beyond all
///    others but its own parameters; these shares need not add up to 1. On a full grid both are one number.
///  - Changes: as --against compares (db/report/comparisons.h), corrected by Holm over all of them and all metrics.
/// @param settings a row for each setting and no columns; gets the notes of its tests @param reference conditions that exactly
/// one row meets; none: no changes. Throws Error for other ones, with the nearest name.
std::vector<Effects> effects_of(Table& settings, const std::vector<std::string>& reference);

}  // namespace ablate::db
