// Fused form of softmax attention, declared in the SDK's softmax_attention.h.
#pragma once

#include "ablate/softmax_attention.h"

namespace ablate::kernels {

/// True if there is a fused form for these sizes, this type and the instructions of this machine.
bool has_softmax_form(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal);

/// Runs the fused form, which must exist, even if it is not faster. Differentiable once.
Tensor fused_softmax_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal);

}  // namespace ablate::kernels
