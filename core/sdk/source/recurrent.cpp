#include "ablate/recurrent.h"

#include <cmath>

#include "ablate/masked_softmax.h"
#include "ablate/padding.h"
#include "ablate/short_convolution.h"
#include "found.h"

namespace ablate {
namespace {

std::int64_t channels(const char* name, double share, const AttentionContext& context, std::int64_t heads) {
  const double exact = share * static_cast<double>(context.width) / static_cast<double>(heads);
  if (exact < 1 || exact != std::floor(exact))
    throw std::invalid_argument(c10::str(name, " = ", share, " of ", context.width, " channels is ", exact, " for each of ",
                                         heads, " heads, expected a whole number"));
  return static_cast<std::int64_t>(exact);
}

HeadOptions head_options(const AttentionContext& context, const RecurrentOptions& options) {
  return {.heads = options.heads,
          .d_key = channels("key_width", options.key_width, context, options.heads),
          .d_value = channels("value_width", options.value_width, context, options.heads),
          .convolution = options.convolution};
}

}  // namespace

RecurrentAttention::RecurrentAttention(const AttentionContext& context, const RecurrentOptions& options)
    : HeadwiseAttention(context, head_options(context, options)), norm_(options.norm), writes_(options.writes) {
  if (norm_ != HeadNorm::kNone && d_value() == 1)
    throw std::invalid_argument("value_width leaves one channel of a value for each head, expected two or more for the norm");
  if (options.gate)
    gate_ = register_module("gate", make_linear(context.d_model, options.heads * d_value(), true, context.generator));
  if (writes_ == 1) return;
  const auto further = options.heads * (writes_ - 1) * (d_key() + d_value());
  further_ = register_module("further", make_linear(context.d_model, further, true, context.generator));
  if (options.convolution == 0) return;
  const double bound = 1 / std::sqrt(static_cast<double>(options.convolution));
  further_filter_ =
      register_parameter("further_filter", empty({further, options.convolution}).uniform_(-bound, bound, context.generator));
}

/// Reads the tokens before a segment from the input's state, and adds the last tokens to `state`.
Recurrence RecurrentAttention::written(const HeadInput& input, AttentionState& state) const {
  const bool carried = !input.state.empty();
  Recurrence of{
      .q = widened(input.q), .k = widened(input.k), .v = widened(input.v), .state = carried ? input.state.front() : Tensor()};
  if (!further_) return of;
  auto y = further_->forward(input.context, fused());
  if (further_filter_.defined()) {
    const auto before = carried ? input.state.back() : Tensor();
    if (carried) state.push_back(last_tokens(before, y, input.mask));
    y = short_convolution({y, further_filter_, {}, before}, fused());
  }
  const auto keys = heads() * (writes_ - 1) * d_key();
  const auto side_by_side = [&](const Tensor& first, const Tensor& further) {
    const auto others = clear_padding(widened(split_heads(further, heads())), input.mask).unflatten(3, {writes_ - 1, -1});
    return cat({first.unsqueeze(3), others}, 3).flatten(2, 3);
  };
  of.k = side_by_side(of.k, y.narrow(2, 0, keys));
  of.v = side_by_side(of.v, y.narrow(2, keys, y.size(2) - keys));
  return of;
}

HeadOutput RecurrentAttention::attend(const HeadInput& input) {
  if (!input.self) throw std::logic_error("a recurrent attention needs queries and context to be one sequence");
  const auto type = input.q.scalar_type();
  AttentionState state;
  const auto recurred = recur(written(input, state), input);
  expect_sizes("recur()", "values", recurred.values, input.v.sizes(), "batch, heads, length, d_value");
  const auto gate = gate_ ? widened(split_heads(gate_->forward(input.context, fused()), heads())) : Tensor();
  const auto values = gated_norm(recurred.values, gate, norm_, fused());
  if (!input.state.empty()) state.insert(state.begin(), recurred.state);
  return {.values = values.to(type), .state = std::move(state)};
}

/// The state's sums are float32 or wider, because a sum in half precision stops growing when small numbers are added.
AttentionState RecurrentAttention::heads_state(std::int64_t batch) const {
  AttentionState state = {zeros({batch, heads(), d_key(), d_value()}, wide_options(parameters().front().tensor))};
  if (further_filter_.defined())
    state.push_back(
        zeros({batch, further_filter_.size(1) - 1, further_filter_.size(0)}, further_filter_.options().requires_grad(false)));
  return state;
}

}  // namespace ablate
