// Fused forms on a CPU, by raw pointers. They are compiled once for each set of instructions.
#pragma once

#include "core/kernels/cpu/affine.h"
#include "core/kernels/cpu/decayed_sums.h"
#include "core/kernels/cpu/delta_rule.h"
#include "core/kernels/cpu/feed_forward.h"
#include "core/kernels/cpu/gated_norm.h"
#include "core/kernels/cpu/linear_attention.h"
#include "core/kernels/cpu/noise.h"
#include "core/kernels/cpu/short_convolution.h"
#include "core/kernels/cpu/softmax_attention.h"

namespace ablate::kernels::cpu {

struct Form {
  Noise noise;
  AffineForward affine;
  AffineBackward affine_backward;
  FeedForwardForward feed_forward;
  FeedForwardBackward feed_forward_backward;
  GatedNormForward gated_norm;
  GatedNormBackward gated_norm_backward;
  LinearAttentionForward linear_attention;
  LinearAttentionBackward linear_attention_backward;
  DecayedSumsForward decayed_sums;
  DecayedSumsBackward decayed_sums_backward;
  DeltaRuleForward delta_rule;
  DeltaRuleBackward delta_rule_backward;
  ShortConvolutionForward short_convolution;
  ShortConvolutionBackward short_convolution_backward;
  SoftmaxAttentionForward softmax_attention;
  SoftmaxAttentionBackward softmax_attention_backward;
};

namespace plain {  // for any processor
extern const Form kForm;
}
namespace avx2 {
extern const Form kForm;
}
namespace avx512 {
extern const Form kForm;
}

}  // namespace ablate::kernels::cpu
