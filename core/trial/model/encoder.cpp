#include "core/trial/model/encoder.h"

#include <ATen/ATen.h>
#include <c10/util/StringUtil.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ablate/linear.h"
#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

constexpr double kEmbeddingDeviation = 0.02;

std::string shape_text(const torch::Tensor& tensor) {
  return c10::str(tensor.scalar_type(), " ", tensor.sizes(), " on ", tensor.device());
}

/// What torch would broadcast or promote in silence, or refuse without naming the plugin.
void check(const AttentionOutput& attended, const torch::Tensor& input) {
  const auto& output = attended.output;
  if (!output.defined())
    throw Error(fmt::format("the attention returned no output, expected {} (batch, length, d_model)", shape_text(input)));
  if (output.sizes() != input.sizes() || output.scalar_type() != input.scalar_type() || output.device() != input.device())
    throw Error(fmt::format("the attention returned an output of {}, expected {} (batch, length, d_model)", shape_text(output),
                            shape_text(input)));
  if (attended.auxiliary_loss.defined() && attended.auxiliary_loss.dim() != 0)
    throw Error(
        fmt::format("the attention returned an auxiliary loss of {}, expected a scalar", shape_text(attended.auxiliary_loss)));
  const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  for (const auto& metric : attended.metrics) {
    if (metric.name.empty() || !std::all_of(metric.name.begin(), metric.name.end(), in_name))
      throw Error(fmt::format("the attention reports a metric named \"{}\", expected snake_case", metric.name));
    if (one_line(metric.unit) != metric.unit)
      throw Error(fmt::format("the attention reports {} in the unit \"{}\", expected one line", metric.name, metric.unit));
  }
}

torch::nn::LayerNorm layer_norm(std::int64_t d_model) { return torch::nn::LayerNorm(torch::nn::LayerNormOptions({d_model})); }

}  // namespace

Encoder::Encoder(const EncoderShape& shape, const std::function<std::shared_ptr<Attention>(std::int64_t)>& make,
                 torch::Generator generator)
    : shape_(shape) {
  const auto places = shape.length + (shape.class_token ? 1 : 0);
  tokens_ = register_module("tokens", torch::nn::Embedding(torch::nn::EmbeddingOptions(shape.vocabulary, shape.d_model)));
  {
    torch::NoGradGuard no_grad;
    tokens_->weight.normal_(0, kEmbeddingDeviation, generator);
  }
  positions_ =
      register_parameter("positions", torch::empty({places, shape.d_model}).normal_(0, kEmbeddingDeviation, generator));
  if (shape.class_token)
    class_token_ = register_parameter("class_token", torch::empty({shape.d_model}).normal_(0, kEmbeddingDeviation, generator));
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const auto name = "layer" + std::to_string(i + 1);
    Layer layer;
    layer.norm1 = register_module(name + "_norm1", layer_norm(shape.d_model));
    layer.norm2 = register_module(name + "_norm2", layer_norm(shape.d_model));
    layer.expand = register_module(name + "_expand", make_linear(shape.d_model, shape.hidden, true, generator));
    layer.contract = register_module(name + "_contract", make_linear(shape.hidden, shape.d_model, true, generator));
    layers_.push_back(std::move(layer));
  }
  norm_ = register_module("norm", layer_norm(shape.d_model));
  classifier_ = register_module("classifier", make_linear(shape.d_model, shape.classes, true, generator));
  // Last, so that everything else starts the same whatever the attention: trials of one seed differ in the attention alone.
  for (std::size_t i = 0; i < layers_.size(); ++i)
    layers_[i].attention = register_module("layer" + std::to_string(i + 1) + "_attention", make(places));
}

torch::Tensor Encoder::drop(const torch::Tensor& x) const {
  return is_training() && shape_.dropout > 0 ? torch::dropout(x, shape_.dropout, true) : x;
}

EncoderOutput Encoder::forward(const torch::Tensor& ids, const torch::Tensor& padding_mask, const torch::Generator& generator,
                               bool measure) {
  auto x = tokens_->forward(ids);
  auto mask = padding_mask;
  if (shape_.class_token) {
    x = torch::cat({class_token_.expand({x.size(0), 1, -1}), x}, 1);
    if (mask.defined()) mask = torch::cat({torch::ones({mask.size(0), 1}, mask.options()), mask}, 1);
  }
  x = drop(x + positions_.slice(0, 0, x.size(1)));
  EncoderOutput result;
  std::map<std::string, std::pair<Measurement, int>> measured;  // sums, and over how many layers
  for (auto& layer : layers_) {
    const auto normed = layer.norm1->forward(x);
    auto attended = layer.attention->forward(
        {.queries = normed, .context = normed, .mask = mask, .generator = generator, .measure = measure});
    check(attended, normed);
    x = x + drop(attended.output);
    x = x + drop(layer.contract->forward(torch::gelu(layer.expand->forward(layer.norm2->forward(x)))));
    if (attended.auxiliary_loss.defined())
      result.auxiliary_loss =
          result.auxiliary_loss.defined() ? result.auxiliary_loss + attended.auxiliary_loss : attended.auxiliary_loss;
    for (const auto& metric : attended.metrics) {
      auto& [sum, layers] = measured.try_emplace(metric.name, Measurement{metric.name, 0, metric.unit}, 0).first->second;
      sum.value += metric.value;
      ++layers;
    }
  }
  for (auto& [name, sum] : measured) {
    sum.first.value /= sum.second;
    result.metrics.push_back(std::move(sum.first));
  }
  x = norm_->forward(x);
  torch::Tensor pooled;
  if (shape_.class_token) {
    pooled = x.select(1, 0);
  } else if (mask.defined()) {
    // By the true length: padded positions leave numerator and denominator.
    pooled = x.masked_fill(mask.logical_not().unsqueeze(-1), 0).sum(1) / mask.sum(1, true).clamp_min(1);
  } else {
    pooled = x.mean(1);
  }
  result.logits = classifier_->forward(pooled);
  return result;
}

void Encoder::on_step(std::int64_t step) {
  for (auto& layer : layers_) layer.attention->on_step(step);
}

}  // namespace ablate
