#include "core/kernels/decayed_sums.h"

#include <algorithm>

#include "ablate/operation.h"
#include "core/kernels/choice.h"
#include "core/kernels/sums_call.h"

namespace ablate::kernels {
namespace {

enum : std::size_t { kQueries, kKeys, kValues, kLogDecay, kState, kBefore };

constexpr std::int64_t kMostSumChannels = 320;  ///< largest number of channels of keys or values

/// True if each head has one number for all sequences and tokens, as after expand().
bool by_head(const Tensor& log_decay) {
  return log_decay.size(3) == 1 && log_decay.size(0) == 1 && (log_decay.stride(2) == 0 || log_decay.size(2) == 1) &&
         !log_decay.requires_grad();
}

cpu::DecayedSumsCall call_of(const Saved& saved, cpu::Decay decay) {
  return sums_call(saved[kQueries], saved[kKeys], saved[kValues], saved[kLogDecay], saved[kState], decay, product());
}

/// Calls `work` for each thread with the thread's first sequence, its part of the call, and scratch.
template <class Work>
void share_out(const cpu::DecayedSumsCall& call, const Work& work) {
  share_sequences(call.batch, cpu::decayed_sums_scratch(call), [&](std::int64_t begin, std::int64_t end, float* scratch) {
    work(begin, part_of(call, begin, end), scratch);
  });
}

std::vector<Tensor> backward(cpu::Decay decay, bool of_decay, const std::vector<Tensor>& gradients, const Saved& saved) {
  const auto call = call_of(saved, decay);
  const auto &q = saved[kQueries], &v = saved[kValues], &state = saved[kState], &log_decay = saved[kLogDecay];
  const auto d_out = gradients[0].defined() ? with_rows(gradients[0]) : zeros(v.sizes(), v.options());
  const auto d_state = gradients[1].defined() ? gradients[1].contiguous() : Tensor();
  auto dq = room_of_heads(q, q.size(1), q.size(3)), dk = room_of_heads(q, q.size(1), q.size(3)),
       dv = room_of_heads(v, v.size(1), v.size(3));
  auto d_log = of_decay ? room_of_heads(v, v.size(1), log_decay.size(3)) : Tensor();
  auto d_before = state.defined() ? empty(state.sizes(), state.options()) : Tensor();
  const auto sums = call.heads * call.numbers();
  const cpu::Heads<float> to_q = write_heads(dq), to_k = write_heads(dk), to_v = write_heads(dv), to_log = write_heads(d_log);
  auto* const to_state = d_before.defined() ? d_before.mutable_data_ptr<float>() : nullptr;
  share_out(call, [&](std::int64_t begin, const cpu::DecayedSumsCall& part, float* scratch) {
    form().decayed_sums_backward(part, scratch, saved[kBefore].const_data_ptr<float>() + begin * sums * call.chunks(),
                                 from_sequence(read_heads(d_out), begin),
                                 d_state.defined() ? d_state.const_data_ptr<float>() + begin * sums : nullptr,
                                 {from_sequence(to_q, begin), from_sequence(to_k, begin), from_sequence(to_v, begin),
                                  from_sequence(to_log, begin), to_state != nullptr ? to_state + begin * sums : nullptr});
  });
  if (of_decay && log_decay.size(0) == 1) d_log = d_log.sum(0, true);
  return {dq, dk, dv, d_log, d_before};
}

/// True if the sizes fit the form. If not, the reference runs: it accepts the sizes, or its error says what is wrong with them.
bool fits(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state) {
  if (q.dim() != 4 || v.dim() != 4 || v.numel() == 0) return false;
  const auto batch = v.size(0), heads = v.size(1), n = v.size(2), d = q.size(3), d_value = v.size(3);
  if (std::min(d, d_value) < 1 || std::max(d, d_value) > kMostSumChannels) return false;
  if (!q.sizes().equals(k.sizes()) || q.size(0) != batch || q.size(2) != n) return false;
  const bool shared = q.size(1) == 1 && heads > 1;
  if (!shared && q.size(1) != heads) return false;
  if (state.defined() && !state.sizes().equals({batch, heads, d, d_value})) return false;
  // With AVX2 and without a decay, copying a chunk's rows costs more time than the form saves (docs/performance.md).
  if (!log_decay.defined()) return instructions() == "avx512";
  const auto& of = log_decay.sizes();
  return of.size() == 4 && (of[0] == batch || of[0] == 1) && of[1] == heads && of[2] == n &&
         (of[3] == 1 || (of[3] == d && !shared));
}

}  // namespace

bool may_fuse_decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state) {
  std::vector<Tensor> tensors{q, k, v};
  for (const auto* tensor : {&log_decay, &state})
    if (tensor->defined()) tensors.push_back(*tensor);
  return may_fuse(Choice::kFused, tensors) && fits(q, k, v, log_decay, state);
}

namespace {

/// Runs the form for channels that are multiples of kLanes.
DecayedSums whole_vectors(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay, const Tensor& state) {
  auto decay = cpu::Decay::kNone;
  if (log_decay.defined())
    decay = by_head(log_decay) ? cpu::Decay::kHead : log_decay.size(3) == 1 ? cpu::Decay::kToken : cpu::Decay::kChannel;
  const bool of_decay = log_decay.defined() && log_decay.requires_grad();
  auto results = with_gradients(
      {q, k, v, log_decay, state},
      [&](Saved& saved) -> std::vector<Tensor> {
        saved = {with_rows(q),
                 with_rows(k),
                 with_rows(v),
                 log_decay.defined() ? with_rows(log_decay) : Tensor(),
                 state.defined() ? state.contiguous() : Tensor(),
                 Tensor()};
        const auto call = call_of(saved, decay);
        const auto options = v.options().requires_grad(false);
        saved[kBefore] = empty({call.batch, call.heads, call.chunks(), call.d, call.d_value}, options);
        auto values = room_of_heads(v, call.heads, call.d_value),
             last = empty({call.batch, call.heads, call.d, call.d_value}, options);
        const auto to = write_heads(values);
        auto* const before = saved[kBefore].mutable_data_ptr<float>();
        auto* const end = last.mutable_data_ptr<float>();
        const auto sums = call.heads * call.numbers();
        share_out(call, [&](std::int64_t begin, const cpu::DecayedSumsCall& part, float* scratch) {
          form().decayed_sums(part, scratch, from_sequence(to, begin), before + begin * sums * call.chunks(),
                              end + begin * sums);
        });
        return {values, last};
      },
      [decay, of_decay](const std::vector<Tensor>& gradients, const Saved& saved) {
        return backward(decay, of_decay, gradients, saved);
      });
  return {std::move(results[0]), std::move(results[1])};
}

}  // namespace

/// Pads channels with zeros to whole vectors: a column of ones behind the values (with_ones()) costs a whole vector.
DecayedSums fused_decayed_sums(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& log_decay,
                               const Tensor& state) {
  const auto missing = [](std::int64_t channels) { return (cpu::kLanes - channels % cpu::kLanes) % cpu::kLanes; };
  const auto d = q.size(3), d_value = v.size(3), more = missing(d), more_values = missing(d_value);
  if (more == 0 && more_values == 0) return whole_vectors(q, k, v, log_decay, state);
  const auto filled = [](const Tensor& x, std::int64_t by) { return by == 0 ? x : pad(x, {0, by}); };
  const bool by_channel = log_decay.defined() && d > 1 && log_decay.size(3) == d;
  auto sums =
      whole_vectors(filled(q, more), filled(k, more), filled(v, more_values), by_channel ? filled(log_decay, more) : log_decay,
                    state.defined() ? pad(state, {0, more_values, 0, more}) : Tensor());
  return {sums.values.narrow(3, 0, d_value), sums.state.narrow(2, 0, d).narrow(3, 0, d_value)};
}

std::int64_t cpu::decayed_sums_scratch(const DecayedSumsCall& call) {
  const std::int64_t d = call.d, dv = call.d_value, numbers = call.numbers();
  if (call.decay == Decay::kChannel)
    return kTile * (9 * d + 5 * dv) + kLanes * 5 * d + 2 * d + 5 * kLanes * kLanes + (kTile / kLanes + 1) * numbers;
  return kTile * (10 * d + 4 * dv + 6 * kTile + 6 + 2 * call.heads) + (1 + call.heads) * numbers;
}

}  // namespace ablate::kernels
