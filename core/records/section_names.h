// The names of a trial's sections, and of what says in one which plugin it is of: as a study, a trial's document
// (core/shared/trial_spec.cpp) and the history have them.
#pragma once

namespace ablate::section {

inline constexpr const char *kTask = "task", *kModel = "model", *kAttention = "attention", *kTrain = "train", *kSeed = "seed";
inline constexpr const char* kPlugin = "plugin";

}  // namespace ablate::section
