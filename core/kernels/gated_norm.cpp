#include "core/kernels/gated_norm.h"

#include "ablate/operation.h"
#include "core/kernels/choice.h"
#include "core/kernels/cpu/gated_norm.h"
#include "core/kernels/heads_call.h"

namespace ablate::kernels {
namespace {

struct GatedNormSaved {
  enum : std::size_t { kValues, kGate };
};

cpu::GatedNormCall gated_norm_call(const Saved& saved, HeadNorm norm) {
  const auto &values = saved[GatedNormSaved::kValues], &gate = saved[GatedNormSaved::kGate];
  return {.tokens = values.size(2),
          .heads = static_cast<int>(values.size(1)),
          .channels = static_cast<int>(values.size(3)),
          .normed = norm != HeadNorm::kNone,
          .centred = norm == HeadNorm::kLayer,
          .values = read_heads(values),
          .gate = gate.defined() ? read_heads(gate) : cpu::Heads<const float>()};
}

/// Calls `work` for each thread with its tokens [begin, end), numbered through all sequences.
template <class Work>
void share_tokens(const Tensor& values, const Work& work) {
  const auto tokens = values.size(0) * values.size(2), parts = parts_for_threads(tokens);
  in_parallel(parts, [&](std::int64_t i) { work(tokens * i / parts, tokens * (i + 1) / parts); });
}

Tensor room_like(const Tensor& values) { return room_of_heads(values, values.size(1), values.size(3)); }

std::vector<Tensor> backward_of_gated_norm(const Tensor& gradient, const Saved& saved, HeadNorm norm) {
  const auto &values = saved[GatedNormSaved::kValues], &gate = saved[GatedNormSaved::kGate];
  const auto d_out = with_rows(gradient);
  auto of_values = room_like(values), of_gate = gate.defined() ? room_like(gate) : Tensor();
  const auto call = gated_norm_call(saved, norm);
  const auto from = read_heads(d_out);
  const cpu::GatedNormGradients to{write_heads(of_values), write_heads(of_gate)};
  share_tokens(values, [&](std::int64_t begin, std::int64_t end) { form().gated_norm_backward(call, begin, end, from, to); });
  return {of_values, of_gate};
}

}  // namespace

/// If the result is false, the reference runs: it accepts the sizes, or its error says what is wrong with them.
bool may_fuse_gated_norm(const Tensor& values, const Tensor& gate) {
  std::vector<Tensor> tensors{values};
  if (gate.defined()) tensors.push_back(gate);
  if (!may_fuse(Choice::kFused, tensors) || values.dim() != 4 || values.numel() == 0) return false;
  return values.size(3) % cpu::kLanes == 0 && (!gate.defined() || gate.sizes().equals(values.sizes()));
}

Tensor fused_gated_norm(const Tensor& values, const Tensor& gate, HeadNorm norm) {
  return with_gradient(
      {values, gate},
      [&](Saved& saved) {
        saved = {with_rows(values), gate.defined() ? with_rows(gate) : Tensor()};
        auto y = room_like(values);
        const auto call = gated_norm_call(saved, norm);
        const auto to = write_heads(y);
        share_tokens(values, [&](std::int64_t begin, std::int64_t end) { form().gated_norm(call, begin, end, to); });
        return y;
      },
      [norm](const Tensor& gradient, const Saved& saved) { return backward_of_gated_norm(gradient, saved, norm); });
}

}  // namespace ablate::kernels
