// The tensors that a module registers, of attentions and compressions alike: saved, moved, kept.
#pragma once

#include <map>
#include <string>

#include "core/trial/conformance/numbers.h"

namespace ablate {

/// What loading a saved module does: every parameter and buffer of `to` gets the numbers of the one of that name. Throws
/// std::runtime_error where the two have other names or shapes.
void copy_registered(const Module& from, const Module& to);

/// Every tensor of `from` is copied into the one of that name of `to`, which may have more. Throws std::runtime_error where one
/// is missing or has another shape.
void copy_common(const Module& from, const Module& to);

/// "never cast: centroids; no weight decay: gain", or "".
std::string list_kept(const Module& module);

/// What of a parameter no gradient has reached: "8 of 16 places along dimension 0, from 8 on of gain", the first dimension of
/// which that is so, or its name alone; "" where all is. @param reached bool, of its shape
std::string unreached(const Tensor& reached, const std::string& name);

/// Throws std::runtime_error where a gradient of `loss` runs into a leaf that is none of the parameters.
void refuse_unregistered(const Tensor& loss, const std::vector<Tensor>& parameters);

/// The types of the tensors that are never cast, by name.
using KeptTypes = std::map<std::string, at::ScalarType>;
KeptTypes kept_types(const Module& module);

/// Throws std::runtime_error naming a tensor that has another type than move_to(module, type) gives: floating-point ones the
/// type, those that are never cast the one they were `made` with; and a parameter that is no trainable leaf.
void check_types(const Module& module, at::ScalarType type, const KeptTypes& made);

/// Throws std::runtime_error naming a tensor of whole numbers that bfloat16 cannot hold, and that is not registered as never
/// cast: indices, counts. @param module in float32
void check_whole_numbers(const Module& module);

}  // namespace ablate
