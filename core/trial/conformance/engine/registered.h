// Tensors that a module registers, for attentions and compressions alike: saving, moving, types.
#pragma once

#include <functional>
#include <string>

#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/engine/numbers.h"

namespace ablate {

/// Loads a saved module: copies every parameter and buffer by name. Throws std::runtime_error if names or shapes differ.
void copy_registered(const Module& from, const Module& to);

/// Copies the tensors of `from` into `to`, which may have more. Throws std::runtime_error if a name or shape is not in `to`.
void copy_common(const Module& from, const Module& to);

/// Describes the part of a parameter that no gradient reached: "8 of 16 places along dimension 0, from 8 on of gain". Returns
/// only the name if no place was reached, and "" if no dimension has an unreached place.
/// @param reached bool, with the parameter's shape
std::string unreached(const Tensor& reached, const std::string& name);

/// Throws std::runtime_error if a gradient of `loss` flows into a leaf that is not among the parameters.
void refuse_unregistered(const Tensor& loss, const std::vector<Tensor>& parameters);

/// Checks that registered tensors have the types that Kept gives them, also after a step. Checks that whole numbers are never
/// cast if half precision cannot represent them. Notes tensors that are never cast or have no weight decay.
/// @param module in float32
/// @param train runs one training step in a type
void check_kept(Module& module, c10::Device device, bool half_precision, const std::function<void(at::ScalarType)>& train,
                Finding& finding);

}  // namespace ablate
