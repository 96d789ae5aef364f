// The fused form of softmax attention, which the SDK's softmax_attention.h says.
#pragma once

#include "ablate/softmax_attention.h"

namespace ablate::kernels {

/// Whether sizes, type and instructions have a form.
bool has_softmax_form(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal);

/// It, where there is one, gain or none. Differentiable once.
Tensor fused_softmax_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal);

}  // namespace ablate::kernels
