// A device's recorder on a CPU: what torch asks of the CPU is written down, operation by operation, and asked for again with
// the same tensors, as CUDA graphs do with a device. Operations of our own on raw memory are not seen; such a trial has
// train.kernels = reference.
#pragma once

#include <memory>
#include <string>

#include "core/trial/device/recorder.h"

namespace ablate::tests {

/// What a wrong recorder, or a wrong use of one, would do.
enum class Planted {
  kNothing,
  kOwnInputs,     ///< a batch's numbers are those of the recording: nobody has copied the next ones
  kStaleRate,     ///< so is the learning rate
  kSameDraws,     ///< each replay draws the same numbers
  kLateSameDraws  ///< from its fifth replay on
};

/// As WorkRecorder says: a recording changes nothing, what it makes is NaN before a replay, and a wait for the device is
/// refused.
std::unique_ptr<WorkRecorder> recording_double(Planted planted = Planted::kNothing);

}  // namespace ablate::tests
