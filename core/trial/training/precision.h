// What `train.dtype` names: in which types a training computes, and what its optimiser keeps.
#pragma once

#include <c10/core/ScalarType.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/shared/precisions.h"

namespace ablate {

struct Precision {
  c10::ScalarType type;  ///< of weights and activations
  /// Of what the optimiser trains: the weights themselves where it is their type, else copies, which are rounded to them after
  /// each step. With fewer digits than float32 steps of a small learning rate would be lost.
  c10::ScalarType kept = c10::ScalarType::Float;
  /// The loss is multiplied by it before its gradients are formed, and they are divided by it where the optimiser keeps: so
  /// that gradients below the least number of `type` are not lost. A power of two, which rounds nothing. A step whose scaled
  /// gradients overflow is skipped.
  double loss_scale = 1;
  bool mixed = false;  ///< products are mixed (core/kernels/mixed_products.h)
};

/// @param own values of what the precision brings, by name
using MakePrecision = Precision (*)(const nlohmann::json& own);

/// Each precision's, in its own file.
namespace precisions {
#define ABLATE_PRECISION(file, ...) Precision file(const nlohmann::json& own);
ABLATE_PRECISIONS(ABLATE_PRECISION)
#undef ABLATE_PRECISION
inline constexpr MakePrecision kFiles[] = {ABLATE_PRECISIONS(ABLATE_FILE_OF)};
}  // namespace precisions

/// Throws std::invalid_argument for a name that is none of kPrecisions.
inline Precision precision_of(const std::string& dtype, const nlohmann::json& own) {
  return file_of_choice(kPrecisions, precisions::kFiles, dtype)(own);
}

/// Throws Error where mixed products are asked for and this processor has none (core/kernels/mixed_products.h).
void check_products(bool mixed);

/// Products of fused forms are mixed while it lives, or float32's; afterwards float32's. One of a process at a time.
class Products {
 public:
  /// Throws as check_products().
  explicit Products(bool mixed);
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products();
};

}  // namespace ablate
