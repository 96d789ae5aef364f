// The tensors that a module registers, of attentions and compressions alike: saved, moved, kept.
#pragma once

#include <functional>
#include <string>

#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/engine/numbers.h"

namespace ablate {

/// What loading a saved module does: every parameter and buffer of `to` gets the numbers of the one of that name. Throws
/// std::runtime_error where the two have other names or shapes.
void copy_registered(const Module& from, const Module& to);

/// Every tensor of `from` is copied into the one of that name of `to`, which may have more. Throws std::runtime_error where one
/// is missing or has another shape.
void copy_common(const Module& from, const Module& to);

/// What of a parameter no gradient has reached: "8 of 16 places along dimension 0, from 8 on of gain", the first dimension of
/// which that is so, or its name alone; "" where all is. @param reached bool, of its shape
std::string unreached(const Tensor& reached, const std::string& name);

/// Throws std::runtime_error where a gradient of `loss` runs into a leaf that is none of the parameters.
void refuse_unregistered(const Tensor& loss, const std::vector<Tensor>& parameters);

/// Checks that registered tensors have the types that Kept gives them, also after a step. Checks that whole numbers are kept if
/// half precision cannot represent them. Says what is kept and what does not decay. @param module in float32 @param train takes
/// a step in a type
void check_kept(Module& module, c10::Device device, bool half_precision, const std::function<void(at::ScalarType)>& train,
                Finding& finding);

}  // namespace ablate
