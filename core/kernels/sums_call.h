// Arguments of the forms of decayed sums and of the delta rule.
#pragma once

#include "core/kernels/cpu/decayed_sums.h"
#include "core/kernels/heads_call.h"

namespace ablate::kernels {

/// @param state undefined: 0
inline cpu::DecayedSumsCall sums_call(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay,
                                      const Tensor& state, cpu::Decay decay, cpu::Product product) {
  return {.batch = v.size(0),
          .heads = v.size(1),
          .tokens = v.size(2),
          .d = static_cast<int>(q.size(3)),
          .d_value = static_cast<int>(v.size(3)),
          .shared = q.size(1) == 1 && v.size(1) > 1,
          .decay = decay,
          .q = read_heads(q),
          .k = read_heads(k),
          .v = read_heads(v),
          .log_decay = decay == cpu::Decay::kNone ? cpu::Heads<const float>() : read_heads(log_decay),
          .state = state.defined() ? state.const_data_ptr<float>() : nullptr,
          .product = product};
}

/// Returns the part of the call with the sequences [begin, end).
inline cpu::DecayedSumsCall part_of(cpu::DecayedSumsCall call, std::int64_t begin, std::int64_t end) {
  call.batch = end - begin;
  for (auto* heads : {&call.q, &call.k, &call.v, &call.log_decay}) *heads = from_sequence(*heads, begin);
  if (call.state != nullptr) call.state += begin * call.heads * call.numbers();
  return call;
}

}  // namespace ablate::kernels
