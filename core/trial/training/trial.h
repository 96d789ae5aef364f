// One trial, from a resolved study point to its results.
#pragma once

#include <functional>

#include "core/shared/messages.h"
#include "core/trial/training/training.h"

namespace ablate {

/// Trains, evaluates, tests. Same parts, same bits. Takes over the process: threads, seeds, device.
/// @param report called at step 0, at most ten times a second, after the last step, and before an exception leaves: what a
/// trial has measured is told however it ends Throws std::exception with the reason: a loss that is not finite, a promise that
/// the plugin does not make, a device that is not there.
TrialResult run_trial(const TrialParts& parts, const std::function<void(const Progress&)>& report);

}  // namespace ablate
