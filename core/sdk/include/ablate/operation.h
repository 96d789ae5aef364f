// Operations with their own gradient. Compiled once, in the SDK's library, because torch's custom_function.h costs 11 s a file.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ablate/tensor.h"

namespace ablate {

/// Tensors that the forward pass saves for the backward pass. They may include inputs, the result and undefined tensors.
using Saved = std::vector<Tensor>;

/// Runs one operation with one result, differentiable once (a backward pass with create_graph throws). `forward` runs now,
/// without recording gradients, and returns a new tensor (no input, nor a view of an input). `backward` runs in the backward
/// pass. It gets the gradient of the result (defined, of its shape) and returns a gradient for each input (undefined: none).
/// Both may throw. The graph stores `backward` until the graph is freed, so capture only numbers and put tensors into `saved`.
Tensor with_gradient(const std::vector<Tensor>& inputs, const std::function<Tensor(Saved& saved)>& forward,
                     std::function<std::vector<Tensor>(const Tensor& gradient, const Saved& saved)> backward);

/// with_gradient() for several results. The gradient of an unused result is undefined, but at least one gradient is defined.
std::vector<Tensor> with_gradients(
    const std::vector<Tensor>& inputs, const std::function<std::vector<Tensor>(Saved& saved)>& forward,
    std::function<std::vector<Tensor>(const std::vector<Tensor>& gradients, const Saved& saved)> backward);

}  // namespace ablate
