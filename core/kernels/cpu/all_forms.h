// All fused forms. Each source that includes this file compiles them for one set of instructions, ABLATE_FORM.
#include "core/kernels/cpu/affine_form.h"
#include "core/kernels/cpu/decayed_sums_form.h"
#include "core/kernels/cpu/delta_rule_form.h"
#include "core/kernels/cpu/feed_forward_form.h"
#include "core/kernels/cpu/form.h"
#include "core/kernels/cpu/gated_norm_form.h"
#include "core/kernels/cpu/linear_attention_form.h"
#include "core/kernels/cpu/noise_form.h"
#include "core/kernels/cpu/short_convolution_form.h"
#include "core/kernels/cpu/softmax_attention_form.h"

namespace ablate::kernels::cpu::ABLATE_FORM {

const Form kForm{noise,
                 affine,
                 affine_backward,
                 feed_forward,
                 feed_forward_backward,
                 gated_norm,
                 gated_norm_backward,
                 linear_attention,
                 linear_attention_backward,
                 decayed_sums,
                 decayed_sums_backward,
                 delta_rule,
                 delta_rule_backward,
                 short_convolution,
                 short_convolution_backward,
                 softmax_attention,
                 softmax_attention_backward};

}  // namespace ablate::kernels::cpu::ABLATE_FORM
