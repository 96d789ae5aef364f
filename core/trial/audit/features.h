// What may tell a label: one position, how long an example is, and the simple things that rules are made of.
#pragma once

#include "core/trial/floors/tables.h"

namespace ablate {

/// What stands at one position, counted from the front or from the end, at a quarter, a half or three quarters of the length,
/// or behind an id that is rare in examples: an id, its remainder by the classes and its size, a number. Where targets stand at
/// positions: what stands there, right before it, and right behind it where the model may look there. @param examples that tell
/// which ids are rare
std::vector<Feature> position_features(const TaskInfo& info, const std::vector<Example>& examples);

/// How many positions there are, up to the last one and present ones, of each sequence and of both; where the first hole is,
/// and the last one; their remainders and sizes. Where targets stand at positions: how many there are before and behind.
std::vector<Feature> length_features(const TaskInfo& info);

/// Where ids stand that are in nearly every example, once or twice, and how far from one another. None where targets stand at
/// positions.
/// @param examples that tell which ids are rare
std::vector<Feature> mark_features(const TaskInfo& info, const std::vector<Example>& examples);

/// Sums, extremes, counts, two positions together, and where targets stand at positions what has been so far.
std::vector<Feature> rule_features(const TaskInfo& info);

}  // namespace ablate
