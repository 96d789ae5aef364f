// A plain Attention of four linear layers, with one fault or none. Tests choose the names of its layers.
#pragma once

#include "ablate/linear.h"
#include "tests/conformance/suite_of.h"

namespace ablate::tests {

enum class Slip {
  kNone,
  kDrops,         // drops three quarters of the weights instead of one quarter
  kEmpty,         // an item without tokens reads the mean of all its values
  kSums,          // weights of a query do not sum to 1, unless tokens are equal
  kDetached,      // the queries' bias has no gradient in training
  kUnscaled,      // weights() uses other scores than the pass
  kUnnormalised,  // weights() before they are divided by their sum
  kMaskless,      // weights() without the mask
  kCauseless,     // weights() that are never causal
  kTurned,        // weights() of keys over queries
  kSwapped,       // weights() with exchanged heads
  kNarrow,        // weights() in the type of the input
  kGraph,         // weights() with a graph
  kNothing,       // weights() that are all 0
  kWrites,        // weights() that write into a buffer
  kInner,         // output_projections() with the values' layer
  kMore,          // output_projections() with the output's layer twice
  kNull,          // output_projections() with a null pointer
};

/// Layers. kBase: named as in the base class. kField: common names, not reported as projections. kTogether: one layer for
/// queries, keys and values. kBare: tensors [in, out] without a layer.
enum class Named { kBase, kField, kTogether, kBare };

template <Slip slip, Named named>
class Plain final : public Attention {
 public:
  explicit Plain(const AttentionContext& context)
      : causal_(context.causal), dropout_(context.dropout), d_(context.d_model), gain_(register_buffer("gain", ones({}))) {
    const auto add = [&](const char* name, std::int64_t out, bool bias = true) {
      return register_module(name, make_linear(d_, out, bias, context.generator));
    };
    if (named == Named::kBase) layers_ = {add("query", d_), add("key", d_), add("value", d_), add("output", d_)};
    if (named == Named::kField) layers_ = {add("to_q", d_), add("to_k", d_), add("to_v", d_), add("to_out", d_)};
    if (named == Named::kTogether) layers_ = {add("in_proj", 3 * d_, false), add("out_proj", d_)};
    if (named == Named::kBare)
      for (const auto* name : {"wq", "wk", "wv", "wo"})
        bare_.push_back(register_parameter(name, make_linear(d_, d_, false, context.generator)->weight.detach().clone()));
  }

 private:
  /// Applies layer 0 (queries), 1 (keys), 2 (values) or 3 (outputs).
  Tensor through(std::size_t layer, const Tensor& x) const {
    if (named == Named::kBare) return x.matmul(bare_[layer]);
    if (named == Named::kTogether)
      return layer == 3 ? layers_[1]->forward(x) : layers_[0]->forward(x).narrow(2, static_cast<std::int64_t>(layer) * d_, d_);
    if (slip == Slip::kDetached && layer == 0 && is_training()) return linear(x, layers_[0]->weight, layers_[0]->bias.detach());
    return layers_[layer]->forward(x);
  }
  Tensor context_of(const AttentionInput& input) const {
    return input.mask.defined() ? input.context.masked_fill(input.mask.logical_not().unsqueeze(-1), 0) : input.context;
  }
  /// @param is_report true for weights(), which some of the faults change
  Tensor weights_of(const AttentionInput& input, bool is_report) const {
    const auto n = input.queries.size(1), keys = input.context.size(1);
    auto seen = ones({input.queries.size(0), 1, n, keys}, TensorOptions(kBool));
    if (input.mask.defined() && !(is_report && slip == Slip::kMaskless))
      seen = seen.logical_and(input.mask.unsqueeze(1).unsqueeze(1));
    if (causal_ && !(is_report && slip == Slip::kCauseless)) seen = seen.tril();
    const auto q = split_heads(through(0, input.queries), 2), k = split_heads(through(1, context_of(input)), 2);
    const auto scores = q.matmul(k.transpose(-1, -2)) * (is_report && slip == Slip::kUnscaled ? 0.5 : 1.0);
    const auto hidden = scores.masked_fill(seen.logical_not(), -1e30);
    if (is_report && slip == Slip::kUnnormalised) return (hidden - hidden.amax(-1, true)).exp();
    auto weights = hidden.softmax(-1);
    if (slip != Slip::kEmpty) weights = weights.masked_fill(seen.any(-1, true).logical_not(), 0);
    if (slip == Slip::kSums) weights = weights * (1 + (weights - weights.mean(-1, true)).square().sum(-1, true));
    return weights;
  }

  AttentionOutput do_forward(const AttentionInput& input) override {
    auto weights = weights_of(input, false);
    if (dropout_ > 0 && is_training()) {
      const double kept = slip == Slip::kDrops ? dropout_ : 1 - dropout_;
      weights = weights * empty(weights.sizes(), weights.options()).bernoulli_(kept, input.generator) / kept;
    }
    return {.output = through(3, merge_heads(weights.matmul(split_heads(through(2, context_of(input)), 2))))};
  }

  Tensor do_weights(const AttentionInput& input) override {
    auto weights = weights_of(input, true);
    if (slip == Slip::kTurned && weights.size(2) == weights.size(3)) weights = weights.transpose(2, 3);
    if (slip == Slip::kSwapped) weights = weights.flip({1});
    if (slip == Slip::kNothing) weights = zeros_like(weights);
    if (slip == Slip::kWrites) gain_.add_(1);
    if (input.query_mask.defined()) weights = weights.masked_fill(input.query_mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
    if (slip == Slip::kNarrow) return weights;
    return slip == Slip::kGraph ? weights.to(kDouble).requires_grad_() : weights.to(kDouble);
  }

  std::vector<std::shared_ptr<Linear>> do_output_projections() const override {
    if (named != Named::kBase) return {};
    if (slip == Slip::kMore) return {layers_.back(), layers_.back()};
    if (slip == Slip::kNull) return {layers_.back(), nullptr};
    return {layers_[slip == Slip::kInner ? 2 : 3]};
  }

  bool causal_;
  double dropout_;
  std::int64_t d_;
  Tensor gain_;
  std::vector<std::shared_ptr<Linear>> layers_;
  std::vector<Tensor> bare_;
};

template <Slip slip, Named named>
const Descriptor& plain() {
  static const Descriptor made = attention_of<Plain<slip, named>>(
      {.id = "plain",
       .version = "1.0.0",
       .summary = "softmax attention of four layers",
       .capabilities = {
           .causal = true, .key_padding = true, .cross_attention = true, .weight_dropout = true, .averages = true}});
  return made;
}

}  // namespace ablate::tests
