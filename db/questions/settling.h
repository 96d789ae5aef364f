// Whether the step times of trials can be believed. Internal to db/.
#pragma once

#include <optional>
#include <vector>

#include "db/questions/selection.h"

namespace ablate::db {

/// Steps are settled while their times spread by no more than this, %, and
inline constexpr double kMostSpread = 10;
/// while a trial on the CPU with one thread (train.threads) computes for at least this part of a step's time: else its only
/// thread waited for a processor.
inline constexpr double kLeastComputing = 0.9;

struct Settling {
  std::vector<std::optional<double>> spread;  ///< train/step_spread of each trial, %
  std::vector<bool> unsettled;                ///< whether a trial's steps spread too much, or waited for a processor
};

Settling load_settling(const Reader& reader, const std::vector<SelectedTrial>& trials);

}  // namespace ablate::db
