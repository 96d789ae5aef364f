// What is compiled once for each set of instructions: the fused forms on a CPU, by raw pointers.
#pragma once

#include "core/kernels/cpu/decayed_sums.h"
#include "core/kernels/cpu/delta_rule.h"
#include "core/kernels/cpu/feed_forward.h"
#include "core/kernels/cpu/linear_attention.h"
#include "core/kernels/cpu/noise.h"
#include "core/kernels/cpu/short_convolution.h"

namespace ablate::kernels::cpu {

struct Form {
  Noise noise;
  FeedForwardForward feed_forward;
  FeedForwardBackward feed_forward_backward;
  LinearAttentionForward linear_attention;
  LinearAttentionBackward linear_attention_backward;
  DecayedSumsForward decayed_sums;
  DecayedSumsBackward decayed_sums_backward;
  DeltaRuleForward delta_rule;
  DeltaRuleBackward delta_rule_backward;
  ShortConvolutionForward short_convolution;
  ShortConvolutionBackward short_convolution_backward;
};

namespace plain {  // any processor's
extern const Form kForm;
}
namespace avx2 {
extern const Form kForm;
}
namespace avx512 {
extern const Form kForm;
}

}  // namespace ablate::kernels::cpu
