// Precisions, named by `train.dtype`: the types in which a training computes and its optimiser stores weights.
#pragma once

#include <c10/core/ScalarType.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/shared/precisions.h"

namespace ablate {

struct Precision {
  c10::ScalarType type;  ///< type of weights and activations
  /// Type of the weights that the optimiser trains. If it differs from `type`, the optimiser trains copies and rounds them to
  /// the weights after each step. With fewer digits than float32, steps of a small learning rate would be lost.
  c10::ScalarType stored = c10::ScalarType::Float;
  /// Factor of the loss in the backward pass. The optimiser divides gradients by it in the type `stored`, so gradients below
  /// the smallest number of `type` are not lost. A power of two causes no rounding. An overflowing step is skipped.
  double loss_scale = 1;
  bool mixed = false;  ///< products are mixed (core/kernels/mixed_products.h)
};

/// @param own values of the precision's own parameters, by name
using MakePrecision = Precision (*)(const nlohmann::json& own);

/// Each precision's function, in its own file.
namespace precisions {
#define ABLATE_PRECISION(file, ...) Precision file(const nlohmann::json& own);
ABLATE_PRECISIONS(ABLATE_PRECISION)
#undef ABLATE_PRECISION
inline constexpr MakePrecision kFiles[] = {ABLATE_PRECISIONS(ABLATE_FILE_OF)};
}  // namespace precisions

/// Returns the precision with that name. Throws std::invalid_argument if kPrecisions has no such name.
inline Precision precision_of(const std::string& dtype, const nlohmann::json& own) {
  return file_of_choice(kPrecisions, precisions::kFiles, dtype)(own);
}

/// Throws Error if `mixed` is true and this processor has no mixed products (core/kernels/mixed_products.h).
void check_products(bool mixed);

/// Sets products of fused forms to mixed or float32 while the object lives, then to float32. A process has one object at most.
class Products {
 public:
  /// Throws Error if check_products() throws it.
  explicit Products(bool mixed);
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products();
};

}  // namespace ablate
