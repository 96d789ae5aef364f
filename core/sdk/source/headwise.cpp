#include "ablate/headwise.h"

#include <ATen/ops/cat.h>

#include <cmath>
#include <string>

#include "ablate/padding.h"
#include "ablate/short_convolution.h"
#include "ablate/straight_through.h"
#include "found.h"

namespace ablate {
namespace {

constexpr double kRotaryBase = 10000;
constexpr double kRounding = 1e-2;  // tolerance for sums of weights: half precision has no more digits

std::int64_t head_width(const char* what, std::int64_t chosen, const AttentionContext& context, std::int64_t heads) {
  if (chosen > 0) return chosen;
  if (context.width % heads != 0)
    throw std::invalid_argument("heads = " + std::to_string(heads) + " does not divide " + what + " = " +
                                std::to_string(context.width));
  return context.width / heads;
}

/// Throws for results that torch would refuse with an error that does not name attend().
void check(const HeadOutput& attended, const HeadInput& input, std::int64_t heads, std::int64_t d_value) {
  const auto &values = attended.values, &queries = input.queries;
  expect_sizes("attend()", "values", values, {queries.size(0), heads, queries.size(1), d_value},
               "batch, heads, length, d_value");
  if (values.scalar_type() != queries.scalar_type() || values.device() != queries.device())
    throw std::runtime_error(c10::str("attend() returned values of ", shape_text(values), ", expected ", queries.scalar_type(),
                                      " on ", queries.device(), ", as the queries"));
  expect_state("attend()", attended.state, input.state);
}

Tensor all_true(const Tensor& like) { return ones({like.size(0), like.size(1)}, like.options().dtype(kBool)); }

}  // namespace

HeadwiseAttention::HeadwiseAttention(const AttentionContext& context, const HeadOptions& options)
    : options_(options),
      d_model_(context.d_model),
      causal_(context.causal),
      carries_(context.carries),
      rotary_(context.positions == Positions::kRotary),
      fused_(context.fused),
      dropout_(context.dropout) {
  const auto* const name = context.width == context.d_model ? "d_model" : "the part's width";
  options_.d_key = head_width(name, options.d_key, context, options.heads);
  options_.d_value = head_width(name, options.d_value, context, options.heads);
  if (rotary_ && options_.queries && options_.keys && options_.d_key % 2 != 0)
    throw std::invalid_argument("heads = " + std::to_string(options_.heads) + " leaves " + std::to_string(options_.d_key) +
                                " channels of a key, expected an even number for rotary positions");
  const auto make = [&](const char* module, std::int64_t width) {
    return register_module(module, make_linear(d_model_, options_.heads * width, true, context.generator));
  };
  if (options_.queries) query_ = make("query", options_.d_key);
  if (options_.keys && !options_.keys_are_queries) key_ = make("key", options_.d_key);
  if (options_.values) value_ = make("value", options_.d_value);
  if (options_.convolution > 0) {
    if (options_.memory > 0 || options_.keys_are_queries)
      throw std::logic_error("a short convolution cannot be combined with a memory, or with keys that are queries");
    const auto channels =
        options_.heads * ((options_.queries + options_.keys) * options_.d_key + options_.values * options_.d_value);
    const double bound = 1 / std::sqrt(static_cast<double>(options_.convolution));
    filter_ = register_parameter("filter", empty({channels, options_.convolution}).uniform_(-bound, bound, context.generator));
  }
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
  if (filter_.defined())
    state.push_back(zeros({batch, options_.convolution - 1, filter_.size(0)}, filter_.options().requires_grad(false)));
  for (auto& tensor : heads_state(batch)) state.push_back(std::move(tensor));
  return state;
}

HeadwiseAttention::Prepared HeadwiseAttention::prepare(const AttentionInput& given) const {
  Prepared prepared{.input = {given}};
  auto& input = prepared.input;
  const bool padded = input.mask.defined();
  // Zeroing keeps NaN in padded inputs out of products. It is no mask: attend() must still leave these keys out.
  if (padded) input.context = input.context.masked_fill(input.mask.logical_not().unsqueeze(-1), 0);
  input.self = given.queries.is_same(given.context);
  const auto sources = input.self ? input.context : input.queries;
  if (!input.state.empty() && memory() > 0) {
    if (!input.self) throw std::logic_error("a memory of earlier segments needs self-attention");
    prepared.remembers = true;
    const AttentionState remembered = {input.state[0], input.state[1]};
    input.state.erase(input.state.begin(), input.state.begin() + 2);
    input.offset = remembered[0].size(1);
    const auto present = padded ? input.mask : all_true(input.context);
    input.mask = cat({remembered[1], present}, 1);
    input.context = cat({remembered[0], input.context}, 1);
  }
  // A projection's bias makes padding nonzero, so padding is cleared again.
  const auto of_context = [&](const std::shared_ptr<Linear>& projection) {
    return clear_padding(project(projection, input.context), input.mask);
  };
  if (query_) input.q = project(query_, sources);
  if (const auto& keys = options_.keys_are_queries ? query_ : key_) input.k = of_context(keys);
  if (value_) input.v = of_context(value_);
  if (filter_.defined()) convolve(input, prepared.convolved);
  if (rotary_ && input.q.defined() && input.k.defined()) {
    input.q = rotate_positions(input.q, input.position, 0);
    input.k = rotate_positions(input.k, input.position, -input.offset);
  }
  return prepared;
}

AttentionOutput HeadwiseAttention::do_forward(const AttentionInput& given) {
  if (!rotary_ && !filter_.defined() && memory() == 0 && given.state.empty())
    if (auto output = in_one(given, {query_, key_, value_, output_, options_.heads}, fused_); output.defined())
      return {.output = std::move(output)};
  const auto [input, remembers, convolved] = prepare(given);
  auto attended = attend(input);
  check(attended, input, options_.heads, options_.d_value);
  AttentionOutput result;
  if (remembers) remember(input, result.state);
  for (const auto& tensor : convolved) result.state.push_back(tensor);
  for (auto& tensor : attended.state) result.state.push_back(std::move(tensor));
  result.auxiliary_loss = std::move(attended.auxiliary_loss);
  result.metrics = std::move(attended.metrics);
  result.output = output_->forward(merge_heads(attended.values), fused_);
  return result;
}

/// Heads that compute means are linear in their values, so one-hot values give the weights. attend() gets several copies of
/// each item. A copy reads the weights of d_value keys, one in each channel of a head. The last copy reads the weights' sum.
Tensor HeadwiseAttention::do_weights(const AttentionInput& given) {
  auto input = prepare(given).input;
  if (!input.v.defined()) return {};
  const auto batch = input.v.size(0), keys = input.v.size(2), d = options_.d_value, blocks = (keys + d - 1) / d;
  const auto options = input.v.options().requires_grad(false);
  const auto item = arange(batch, options.dtype(kLong)).unsqueeze(1).expand({-1, blocks + 1}).flatten();
  for (auto* const x : {&input.q, &input.k, &input.queries, &input.mask, &input.query_mask, &input.position})
    if (x->defined()) *x = x->index_select(0, item);
  input.context = input.self && !given.mask.defined() ? input.queries : input.context.index_select(0, item);
  const auto key = arange(keys, options.dtype(kLong)).view({1, keys, 1});
  const auto place = arange(blocks * d, options.dtype(kLong)).view({blocks, 1, d});
  const auto values = cat({(key == place).to(options.dtype()), ones({1, keys, d}, options)}, 0).unsqueeze(1);
  input.v = clear_padding(values.expand({-1, options_.heads, -1, -1}).repeat({batch, 1, 1, 1}), input.mask);
  auto attended = attend(input);
  check(attended, input, options_.heads, d);
  auto read = attended.values.to(kDouble).unflatten(0, {batch, blocks + 1});  // [batch, blocks + 1, heads, n, d]
  if (given.query_mask.defined()) read = read.masked_fill(given.query_mask.logical_not().view({batch, 1, 1, -1, 1}), 0);
  const auto weights = read.narrow(1, 0, blocks).permute({0, 2, 3, 1, 4}).flatten(3).narrow(3, 0, keys);
  const auto sum = read.select(1, blocks);
  const auto is = [&](double whole) { return (sum - whole).abs() < kRounding; };
  const bool mean =
      is(1).logical_or(is(0)).all().item<bool>() && (weights.sum(-1, true) - sum).abs().amax().item<double>() < kRounding;
  return mean ? weights : Tensor();
}

/// Stores the last tokens of each item's memory and segment, joined without the segment's padding. So padding pushes out no
/// token.
void HeadwiseAttention::remember(const HeadInput& input, AttentionState& state) const {
  const auto memory_length = input.offset, n = input.context.size(1) - memory_length;
  const auto real = input.mask.narrow(1, memory_length, n).sum(1);  // [batch]
  state.push_back(rows_from(input.context.detach(), real, memory_length));
  state.push_back(rows_from(input.mask, real, memory_length));
}

/// Convolves queries, keys and values. The state holds the projected tokens before a segment.
void HeadwiseAttention::convolve(HeadInput& input, AttentionState& state) const {
  if (!input.self) throw std::logic_error("a short convolution needs self-attention");
  std::vector<Tensor> parts;
  for (auto* x : {&input.q, &input.k, &input.v})
    if (x->defined()) parts.push_back(merge_heads(*x));
  const auto x = ablate::cat(parts, 2);
  const bool carried = !input.state.empty();
  const auto before = carried ? input.state.front() : Tensor();
  const auto y = short_convolution({x, filter_, {}, before}, fused_);
  std::int64_t begin = 0;
  for (auto* part : {&input.q, &input.k, &input.v}) {
    if (!part->defined()) continue;
    const auto width = options_.heads * part->size(3);
    *part = clear_padding(split_heads(y.narrow(2, begin, width), options_.heads), input.mask);
    begin += width;
  }
  if (!carried) return;
  input.state.erase(input.state.begin());
  state.push_back(last_tokens(before, x, input.mask));
}

Tensor HeadwiseAttention::project(const std::shared_ptr<Linear>& projection, const Tensor& x) const {
  if (!projection) throw std::logic_error("an attention uses a projection that its options leave out");
  return split_heads(projection->forward(x, fused_), options_.heads);
}

Tensor HeadwiseAttention::project_frozen(const std::shared_ptr<Linear>& projection, const Tensor& x) const {
  if (!projection) throw std::logic_error("an attention uses a projection that its options leave out");
  const auto weight = frozen(projection->weight), bias = frozen(projection->bias);
  return split_heads(linear(x, weight, bias), options_.heads);
}

Tensor rows_from(const Tensor& x, const Tensor& first, std::int64_t count) {
  const auto index = first.unsqueeze(1) + arange(count, first.options()).unsqueeze(0);
  return x.dim() == 2 ? x.gather(1, index) : x.gather(1, index.unsqueeze(-1).expand({-1, -1, x.size(2)}));
}

Tensor last_tokens(const Tensor& before, const Tensor& x, const Tensor& mask) {
  const auto real =
      mask.defined() ? mask.sum(1) : full({x.size(0)}, x.size(1), x.options().dtype(kLong).requires_grad(false));  // [batch]
  return rows_from(cat({before, x}, 1), real, before.size(1));
}

Tensor rotate_positions(const Tensor& x, const Tensor& first, std::int64_t shift) {
  const auto half = x.size(3) / 2;
  if (half * 2 != x.size(3))
    throw std::invalid_argument("rotary positions need an even number of channels, found " + std::to_string(x.size(3)));
  // float32 is too coarse for positions far into a stream: near 10 million radians, its numbers are a whole radian apart.
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
