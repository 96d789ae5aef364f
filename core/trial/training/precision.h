// What `train.dtype` names: in which types a training computes, and what its optimiser keeps.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "core/shared/precisions.h"

namespace ablate {

struct Precision {
  c10::ScalarType type;  ///< of weights and activations
  /// Of what the optimiser trains: the weights themselves where it is their type, else copies, which are rounded to them after
  /// each step. With fewer digits than float32 steps of a small learning rate would be lost.
  c10::ScalarType kept = c10::ScalarType::Float;
  /// The loss is multiplied by it before its gradients are formed, and they are divided by it where the optimiser keeps: so
  /// that gradients below the least number of `type` are not lost. A power of two, which rounds nothing.
  double loss_scale = 1;
};

/// Each precision's, in its own file.
namespace precisions {
#define ABLATE_PRECISION(file, ...) extern const Precision file;
ABLATE_PRECISIONS(ABLATE_PRECISION)
#undef ABLATE_PRECISION
}  // namespace precisions

/// Throws std::invalid_argument for a name that is none of kPrecisions.
inline const Precision& precision_of(const std::string& dtype) {
  static constexpr const Precision* kAll[] = {
#define ABLATE_PRECISION(file, ...) &precisions::file,
      ABLATE_PRECISIONS(ABLATE_PRECISION)
#undef ABLATE_PRECISION
  };
  return *kAll[index_of_choice(kPrecisions, dtype)];
}

}  // namespace ablate
