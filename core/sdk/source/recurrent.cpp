#include "ablate/recurrent.h"

#include <cmath>

#include "ablate/masked_softmax.h"
#include "found.h"

namespace ablate {
namespace {

constexpr double kEpsilon = 1e-5;

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

Tensor normed(const Tensor& x, HeadNorm norm) {
  if (norm == HeadNorm::kNone) return x;
  const auto centred = norm == HeadNorm::kLayer ? x - x.mean(-1, true) : x;
  return centred * (centred.square().mean(-1, true) + kEpsilon).rsqrt();
}

}  // namespace

RecurrentAttention::RecurrentAttention(const AttentionContext& context, const RecurrentOptions& options)
    : HeadwiseAttention(context, head_options(context, options)), norm_(options.norm) {
  if (norm_ != HeadNorm::kNone && d_value() == 1)
    throw std::invalid_argument(
        "value_width leaves one channel of a value for each head, and the norm of one says nothing of it");
  if (options.gate)
    gate_ = register_module("gate", make_linear(context.d_model, options.heads * d_value(), true, context.generator));
}

HeadOutput RecurrentAttention::attend(const HeadInput& input) {
  if (!input.self) throw std::logic_error("a recurrent attention needs queries and context to be one sequence");
  const auto type = input.q.scalar_type();
  const bool carried = !input.state.empty();
  const auto recurred = recur(
      {.q = widened(input.q), .k = widened(input.k), .v = widened(input.v), .state = carried ? input.state.front() : Tensor()},
      input);
  expect_sizes("recur()", "values", recurred.values, input.v.sizes(), "batch, heads, length, d_value");
  auto values = normed(recurred.values, norm_);
  if (gate_) values = values * silu(widened(split_heads(gate_->forward(input.context), heads())));
  HeadOutput output{.values = values.to(type)};
  if (carried) output.state = {recurred.state};
  return output;
}

/// Float32 at least: half precision would stop adding up.
AttentionState RecurrentAttention::heads_state(std::int64_t batch) const {
  return {zeros({batch, heads(), d_key(), d_value()}, wide_options(parameters().front().tensor))};
}

}  // namespace ablate
