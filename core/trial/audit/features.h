// Simple features that may predict a label: one position, the length of an example, and the parts of simple rules.
#pragma once

#include "core/trial/floors/tables.h"

namespace ablate {

/// Returns the contents of single positions: from either end, at a quarter, a half or three quarters of the length, or after a
/// rare id. An id of a large vocabulary yields three features: itself, its remainder modulo the classes, and its size. If
/// targets are at positions: the contents at the target, right before it, and right after it if the model sees that position.
/// @param examples used to find rare ids
std::vector<Feature> position_features(const TaskInfo& info, const std::vector<Example>& examples);

/// Returns the length of each sequence, up to its last present position. With holes, also the number of present positions and
/// the places of the first and last hole. With two sequences, also the sum and the difference of their present positions. If
/// targets are at positions, also how many positions precede and follow each target. Each number adds its size and remainder.
std::vector<Feature> length_features(const TaskInfo& info);

/// Returns places of ids that nearly every example has once or twice, and their distances. Empty if targets are at positions.
/// @param examples used to find rare ids
std::vector<Feature> mark_features(const TaskInfo& info, const std::vector<Example>& examples);

/// Returns sums, extremes, counts, and pairs of positions. If targets are at positions: the same up to each target.
std::vector<Feature> rule_features(const TaskInfo& info);

}  // namespace ablate
