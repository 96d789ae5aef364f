// Double of a device's recorder on the CPU. It records torch's CPU operations one by one and repeats them with the same
// tensors, as CUDA graphs do on a device. It misses our own operations on raw memory, so trials need train.kernels = reference.
#pragma once

#include <memory>
#include <string>

#include "core/trial/device/recorder.h"

namespace ablate::tests {

/// Faults of a wrong recorder, or of wrong use.
enum class Planted {
  kNothing,
  kOwnInputs,     ///< a batch keeps the recording's numbers: the next batch is not copied
  kStaleRate,     ///< the learning rate keeps its value from the recording
  kSameDraws,     ///< each replay draws the same numbers
  kLateSameDraws  ///< the same draws from the fifth replay on
};

/// Follows WorkRecorder: a recording changes nothing, its results are NaN before a replay, and waiting for the device is
/// refused.
std::unique_ptr<WorkRecorder> recording_double(Planted planted = Planted::kNothing);

}  // namespace ablate::tests
