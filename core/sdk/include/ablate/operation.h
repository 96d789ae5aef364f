// Operations with a gradient of their own. Compiled once, in the SDK's library: torch's custom_function.h costs 11 s a file.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ablate/tensor.h"

namespace ablate {

/// What the forward pass leaves for the backward pass. Inputs and the result may be among the tensors; undefined ones, too.
using Saved = std::vector<Tensor>;

/// One operation with one result, differentiable once (going backward with create_graph throws). `forward` runs now, without
/// recording gradients, and returns a new tensor (no input, nor a view of one); `backward` runs when gradients are asked for,
/// with the gradient of the result (defined, of its shape), and gives one gradient for each input, undefined where there is
/// none. Both may throw. backward is kept until the graph goes: let it capture numbers, not tensors, which belong into `saved`.
Tensor with_gradient(const std::vector<Tensor>& inputs, const std::function<Tensor(Saved& saved)>& forward,
                     std::function<std::vector<Tensor>(const Tensor& gradient, const Saved& saved)> backward);

/// The same with several results. A gradient is undefined where nobody asks for that of its result; one at least is defined.
std::vector<Tensor> with_gradients(
    const std::vector<Tensor>& inputs, const std::function<std::vector<Tensor>(Saved& saved)>& forward,
    std::function<std::vector<Tensor>(const std::vector<Tensor>& gradients, const Saved& saved)> backward);

}  // namespace ablate
