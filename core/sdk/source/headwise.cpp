#include "ablate/headwise.h"

#include <ATen/ops/cat.h>

#include <cmath>
#include <string>

namespace ablate {
namespace {

constexpr double kRotaryBase = 10000;

std::int64_t head_width(const char* what, std::int64_t asked, const AttentionContext& context, std::int64_t heads) {
  if (asked > 0) return asked;
  if (context.width % heads != 0)
    throw std::invalid_argument("heads = " + std::to_string(heads) + " does not divide " + what + " = " +
                                std::to_string(context.width));
  return context.width / heads;
}

Tensor all_true(const Tensor& like) { return ones({like.size(0), like.size(1)}, like.options().dtype(kBool)); }

}  // namespace

HeadwiseAttention::HeadwiseAttention(const AttentionContext& context, const HeadOptions& options)
    : options_(options),
      d_model_(context.d_model),
      causal_(context.causal),
      carries_(context.carries),
      rotary_(context.positions == Positions::kRotary) {
  const auto* const name = context.width == context.d_model ? "d_model" : "the part's width";
  options_.d_key = head_width(name, options.d_key, context, options.heads);
  options_.d_value = head_width(name, options.d_value, context, options.heads);
  const auto project = [&](const char* module, std::int64_t width) {
    return register_module(module, make_linear(d_model_, options_.heads * width, true, context.generator));
  };
  if (options_.queries) query_ = project("query", options_.d_key);
  if (options_.keys && !options_.keys_are_queries) key_ = project("key", options_.d_key);
  if (options_.values) value_ = project("value", options_.d_value);
  output_ = register_module("output", make_linear(options_.heads * options_.d_value, context.d_model, true, context.generator));
}

std::int64_t HeadwiseAttention::memory() const {
  return !is_training() && options_.evaluation_memory > 0 ? options_.evaluation_memory : options_.memory;
}

AttentionState HeadwiseAttention::do_initial_state(std::int64_t batch) const {
  AttentionState state;
  if (!carries_) return state;
  if (memory() > 0) {
    const auto options = output_->weight.options().requires_grad(false);
    state = {zeros({batch, memory(), d_model_}, options), zeros({batch, memory()}, options.dtype(kBool))};
  }
  for (auto& tensor : heads_state(batch)) state.push_back(std::move(tensor));
  return state;
}

AttentionOutput HeadwiseAttention::do_forward(const AttentionInput& given) {
  HeadInput input{given};
  const bool padded = input.mask.defined();
  // Zeroing is no masking (attend still has to leave these keys out); it keeps NaN in padded inputs from reaching a product.
  if (padded) input.context = input.context.masked_fill(input.mask.logical_not().unsqueeze(-1), 0);
  input.self = given.queries.is_same(given.context);
  const auto sources = input.self ? input.context : input.queries;
  AttentionState remembered;
  if (!input.state.empty() && memory() > 0) {
    if (!input.self) throw std::logic_error("a memory of earlier segments needs self-attention");
    remembered = {input.state[0], input.state[1]};
    input.state.erase(input.state.begin(), input.state.begin() + 2);
    input.offset = remembered[0].size(1);
    const auto present = padded ? input.mask : all_true(input.context);
    input.mask = cat({remembered[1], present}, 1);
    input.context = cat({remembered[0], input.context}, 1);
  }
  const auto heads = [&](const std::shared_ptr<Linear>& projection, const Tensor& x) {
    return split_heads(projection->forward(x), options_.heads);
  };
  // The bias has to leave the padding.
  const auto of_context = [&](const std::shared_ptr<Linear>& projection) {
    const auto y = heads(projection, input.context);
    return input.mask.defined() ? y.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(-1), 0) : y;
  };
  if (query_) input.q = heads(query_, sources);
  if (const auto& keys = options_.keys_are_queries ? query_ : key_) input.k = of_context(keys);
  if (value_) input.v = of_context(value_);
  if (rotary_ && input.q.defined() && input.k.defined()) {
    input.q = rotate_positions(input.q, input.position, 0);
    input.k = rotate_positions(input.k, input.position, -input.offset);
  }
  auto attended = attend(input);
  AttentionOutput result;
  if (!remembered.empty()) remember(input, result.state);
  for (auto& tensor : attended.state) result.state.push_back(std::move(tensor));
  result.auxiliary_loss = std::move(attended.auxiliary_loss);
  result.metrics = std::move(attended.metrics);
  result.output = output_->forward(merge_heads(attended.values));
  return result;
}

/// The last tokens of memory and segment together, of each item its own: padding does not push anything out.
void HeadwiseAttention::remember(const HeadInput& input, AttentionState& state) const {
  const auto kept = input.offset, n = input.context.size(1) - kept;
  const auto context = input.context.detach();
  const auto real = input.mask.narrow(1, kept, n).sum(1);  // [batch]
  const auto index = real.unsqueeze(1) + arange(kept, real.options()).unsqueeze(0);
  state.push_back(context.gather(1, index.unsqueeze(-1).expand({-1, -1, context.size(2)})));
  state.push_back(input.mask.gather(1, index));
}

Tensor rotate_positions(const Tensor& x, const Tensor& first, std::int64_t shift) {
  const auto half = x.size(3) / 2;
  if (half * 2 != x.size(3))
    throw std::invalid_argument("rotary positions turn pairs of channels: a head has " + std::to_string(x.size(3)));
  // In float32 neighbours far into a stream would have one angle: at 10 million its numbers are a whole radian apart.
  const auto options = x.options().dtype(kDouble).requires_grad(false);
  auto position = arange(x.size(2), options) + shift;                             // [n]
  if (first.defined()) position = position + first.to(kDouble).view({-1, 1, 1});  // [batch, 1, n]
  const auto frequency = (arange(half, options) * (-std::log(kRotaryBase) / static_cast<double>(half))).exp();
  const auto angle = position.unsqueeze(-1) * frequency;  // [..., n, half]
  const auto cosine = angle.cos().to(x.scalar_type()), sine = angle.sin().to(x.scalar_type());
  const auto a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
  return cat({a * cosine - b * sine, a * sine + b * cosine}, 3);
}

}  // namespace ablate
