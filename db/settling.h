// Whether the step times of trials can be believed. Internal to db/.
#pragma once

#include <optional>
#include <vector>

#include "db/selection.h"

namespace ablate::db {

/// Times of steps and what is derived from them: metrics "train/..." in ms, s or examples/s.
bool is_step_time(const Metric& metric);

struct Settling {
  std::vector<std::optional<double>> spread;  ///< train/step_spread of each trial, %
  /// Whether a trial's steps spread by more than 10 %, or its only thread waited for a processor: on the CPU with one thread
  /// (train.threads), less than 90 % of a step's time was spent computing.
  std::vector<bool> unsettled;
};

Settling load_settling(const Reader& reader, const std::vector<SelectedTrial>& trials);

}  // namespace ablate::db
