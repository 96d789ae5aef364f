#include "core/kernels/delta_rule.h"

#include "ablate/operation.h"
#include "core/kernels/choice.h"
#include "core/kernels/sums_call.h"

namespace ablate::kernels {
namespace {

// Fewest tokens for the form. With fewer, a whole chunk costs more than plain operators on the tokens (docs/performance.md).
constexpr std::int64_t kFewestFused = 17;

struct DeltaSaved {
  enum : std::size_t { kQueries, kKeys, kValues, kStrengths, kLogDecay, kState, kBefore, kMoved, kCount };
};

cpu::DeltaRuleCall delta_call(const Saved& saved) {
  using S = DeltaSaved;
  const auto decay = saved[S::kLogDecay].defined() ? cpu::Decay::kToken : cpu::Decay::kNone;
  return {sums_call(saved[S::kQueries], saved[S::kKeys], saved[S::kValues], saved[S::kLogDecay], saved[S::kState], decay,
                    product()),
          read_heads(saved[S::kStrengths])};
}

/// Calls `work` for each thread with the thread's first sequence, its part of the call, and scratch.
template <class Work>
void share_delta(const cpu::DeltaRuleCall& call, const Work& work) {
  share_sequences(call.sums.batch, cpu::delta_rule_scratch(call), [&](std::int64_t begin, std::int64_t end, float* scratch) {
    work(begin, cpu::DeltaRuleCall{part_of(call.sums, begin, end), from_sequence(call.strengths, begin)}, scratch);
  });
}

DecayedSums forward_of_delta(Saved& saved) {
  const auto call = delta_call(saved);
  const auto& sums = call.sums;
  const auto& v = saved[DeltaSaved::kValues];
  const auto options = v.options().requires_grad(false);
  saved[DeltaSaved::kBefore] = empty({sums.batch, sums.heads, sums.chunks(), sums.d, sums.d_value}, options);
  saved[DeltaSaved::kMoved] = empty({sums.batch, sums.heads, sums.chunks(), call.moved()}, options);
  auto values = room_of_heads(v, sums.heads, sums.d_value),
       last = empty({sums.batch, sums.heads, sums.d, sums.d_value}, options);
  const auto to = write_heads(values);
  auto* const before = saved[DeltaSaved::kBefore].mutable_data_ptr<float>();
  auto* const moved = saved[DeltaSaved::kMoved].mutable_data_ptr<float>();
  auto* const end = last.mutable_data_ptr<float>();
  const auto numbers = sums.heads * sums.numbers(), of_tokens = sums.heads * sums.chunks() * call.moved();
  share_delta(call, [&](std::int64_t begin, const cpu::DeltaRuleCall& part, float* scratch) {
    form().delta_rule(part, scratch, from_sequence(to, begin), before + begin * numbers * sums.chunks(),
                      moved + begin * of_tokens, end + begin * numbers);
  });
  return {values, last};
}

std::vector<Tensor> backward_of_delta(bool of_decay, const std::vector<Tensor>& gradients, const Saved& saved) {
  using S = DeltaSaved;
  const auto call = delta_call(saved);
  const auto& sums = call.sums;
  const auto &q = saved[S::kQueries], &v = saved[S::kValues], &state = saved[S::kState];
  const auto d_out = gradients[0].defined() ? with_rows(gradients[0]) : zeros(v.sizes(), v.options());
  const auto d_state = gradients[1].defined() ? gradients[1].contiguous() : Tensor();
  const auto room = [&](std::int64_t channels) { return room_of_heads(v, sums.heads, channels); };
  auto dq = room(q.size(3)), dk = room(q.size(3)), dv = room(v.size(3)), d_strengths = room(1);
  auto d_log = of_decay ? room(1) : Tensor();
  auto d_before = state.defined() ? empty(state.sizes(), state.options()) : Tensor();
  const cpu::Heads<float> to_q = write_heads(dq), to_k = write_heads(dk), to_v = write_heads(dv),
                          to_strengths = write_heads(d_strengths), to_log = write_heads(d_log);
  auto* const to_state = d_before.defined() ? d_before.mutable_data_ptr<float>() : nullptr;
  const auto numbers = sums.heads * sums.numbers(), of_tokens = sums.heads * sums.chunks() * call.moved();
  share_delta(call, [&](std::int64_t begin, const cpu::DeltaRuleCall& part, float* scratch) {
    const auto at = [begin](const auto& heads) { return from_sequence(heads, begin); };
    form().delta_rule_backward(
        part, scratch, saved[S::kBefore].const_data_ptr<float>() + begin * numbers * sums.chunks(),
        saved[S::kMoved].const_data_ptr<float>() + begin * of_tokens, at(read_heads(d_out)),
        d_state.defined() ? d_state.const_data_ptr<float>() + begin * numbers : nullptr,
        {{at(to_q), at(to_k), at(to_v), at(to_log), to_state != nullptr ? to_state + begin * numbers : nullptr},
         at(to_strengths)});
  });
  if (of_decay && saved[S::kLogDecay].size(0) == 1) d_log = d_log.sum(0, true);
  return {dq, dk, dv, d_strengths, d_log, d_before};
}

/// True if the sizes fit the form. If not, the reference runs: it accepts the sizes, or its error says what is wrong with them.
bool delta_fits(const DeltaRule& of) {
  const auto &q = of.q, &v = of.v;
  if (q.dim() != 4 || v.dim() != 4 || v.numel() == 0 || !of.erase.is_same(of.write)) return false;
  const auto batch = v.size(0), heads = v.size(1), n = v.size(2), d = q.size(3), d_value = v.size(3);
  if (n < kFewestFused || !fused_channels(d) || !fused_channels(d_value)) return false;
  if (!q.sizes().equals({batch, heads, n, d}) || !of.k.sizes().equals(q.sizes())) return false;
  if (!of.erase.sizes().equals({batch, heads, n, 1})) return false;
  if (of.state.defined() && !of.state.sizes().equals({batch, heads, d, d_value})) return false;
  if (!of.log_decay.defined()) return true;
  const auto& sizes = of.log_decay.sizes();
  return sizes.equals({batch, heads, n, 1}) || sizes.equals({1, heads, n, 1});
}

}  // namespace

bool may_fuse_delta_rule(const DeltaRule& of) {
  std::vector<Tensor> tensors{of.q, of.k, of.v, of.erase};
  for (const auto* tensor : {&of.log_decay, &of.state})
    if (tensor->defined()) tensors.push_back(*tensor);
  return may_fuse(Choice::kFused, tensors) && delta_fits(of);
}

DecayedSums fused_delta_rule(const DeltaRule& of) {
  const bool of_decay = of.log_decay.defined() && of.log_decay.requires_grad();
  auto results = with_gradients(
      {of.q, of.k, of.v, of.erase, of.log_decay, of.state},
      [&](Saved& saved) -> std::vector<Tensor> {
        saved = {with_rows(of.q), with_rows(of.k), with_rows(of.v),
                 of.erase,        of.log_decay,    of.state.defined() ? of.state.contiguous() : Tensor()};
        saved.resize(DeltaSaved::kCount);
        auto sums = forward_of_delta(saved);
        return {sums.values, sums.state};
      },
      [of_decay](const std::vector<Tensor>& gradients, const Saved& saved) {
        return backward_of_delta(of_decay, gradients, saved);
      });
  return {std::move(results[0]), std::move(results[1])};
}

std::int64_t cpu::delta_rule_scratch(const DeltaRuleCall& call) {
  const auto& sums = call.sums;
  return decayed_sums_scratch(sums) + kTile * (3 * kTile + sums.d + 2 * sums.d_value + 2);
}

}  // namespace ablate::kernels
