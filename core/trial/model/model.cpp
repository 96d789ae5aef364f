#include "core/trial/model/model.h"

#include <ATen/ops/dropout.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/shared/requirements.h"
#include "core/trial/model/attention_place.h"
#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

/// Sums of what layers report, and over how many.
class LayerMeans {
 public:
  void add(const std::string& plugin, const std::vector<Measurement>& metrics) {
    for (const auto& metric : metrics) {
      const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
      if (metric.name.empty() || !std::all_of(metric.name.begin(), metric.name.end(), in_name))
        throw Error(fmt::format("attention {} reports a metric named \"{}\", expected snake_case", plugin, metric.name));
      if (one_line(metric.unit) != metric.unit)
        throw Error(
            fmt::format("attention {} reports {} in the unit \"{}\", expected one line", plugin, metric.name, metric.unit));
      const auto name = plugin + "/" + metric.name;
      auto& [sum, layers] = sums_.try_emplace(name, Measurement{name, 0, metric.unit}, 0).first->second;
      sum.value += metric.value;
      ++layers;
    }
  }
  std::vector<Measurement> take() {
    std::vector<Measurement> means;
    for (auto& [name, sum] : sums_) {
      sum.first.value /= sum.second;
      means.push_back(std::move(sum.first));
    }
    return means;
  }

 private:
  std::map<std::string, std::pair<Measurement, int>> sums_;
};

}  // namespace

bool carries_state(const nlohmann::json& attention, const FindPlugin& find) {
  const auto sections = sections_of(attention);
  return std::any_of(sections.begin(), sections.end(),
                     [&](const auto& section) { return promises_of(Kind::kAttention, section, find).stateful; });
}

Model::Model(const ModelOptions& options, const nlohmann::json& attention, bool carries, const FindPlugin& find,
             const MakeHead& make_head, const Generator& generator)
    : options_(options), embedder_(std::make_shared<Embedder>(options, generator)) {
  if (embedder_->positions().defined()) register_parameter("positions", embedder_->positions());
  if (embedder_->class_token().defined()) register_parameter("class_token", embedder_->class_token());
  for (const auto& [name, module] : embedder_->modules()) register_module(name, module);
  for (std::int64_t i = 0; i < options.layers; ++i)
    layers_.push_back({"", register_module("layer" + std::to_string(i + 1), std::make_shared<Block>(options, generator)), {}});
  // Post-norm layers end with a norm of their own.
  if (options.norm_first || options.layers == 0) norm_ = register_module("norm", std::make_shared<LayerNorm>(options.d_model));
  head_ = register_module("classifier", make_head(options, options.tied_output ? embedder_->table() : Tensor(), generator));
  // Last, so that everything else starts the same whatever the attention: trials of one seed differ in the attention alone.
  const auto sections = sections_of(attention);
  auto place = attention_place(options, carries);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto entry = i % sections.size();
    const auto& section = sections[entry];
    place.layer = static_cast<std::int64_t>(i);
    layers_[i].plugin = section.at("plugin").get<std::string>();
    const auto padded = unpromised(Kind::kAttention, layers_[i].plugin, promises_of(Kind::kAttention, section, find),
                                   {.causal = place.causal, .padded = true});
    if (!padded.empty()) padding_refusal_ = padded.back().what;
    layers_[i].attention = register_module(
        "layer" + std::to_string(i + 1) + "_attention",
        make_attention(section, place, find, generator, shared_, attention.is_array() ? fmt::format("{}.", entry) : ""));
  }
  for (const auto& [name, tensor] : shared_) {
    auto plain = "shared_" + name;
    std::replace(plain.begin(), plain.end(), '.', '_');
    register_parameter(plain, tensor);
  }
  const auto initial = carries ? initial_state(1) : ModelState();
  stateful_ = std::any_of(initial.begin(), initial.end(), [](const auto& layer) { return !layer.empty(); });
}

ModelState Model::initial_state(std::int64_t batch) const {
  ModelState state;
  for (const auto& layer : layers_) state.push_back(layer.attention->initial_state(batch));
  return state;
}

ModelOutput Model::forward(const Batch& batch, const ModelState& state, const Generator& generator, bool measure) const {
  auto x = embedder_->forward(batch);
  auto mask = batch.mask;
  if (mask.defined() && !padding_refusal_.empty()) throw Error(padding_refusal_);
  if (options_.class_token() && mask.defined()) mask = cat({ones({mask.size(0), 1}, mask.options()), mask}, 1);
  if (is_training() && options_.dropout > 0) x = at::dropout(x, options_.dropout, true);
  ModelOutput result;
  LayerMeans measured;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    auto& layer = layers_[i];
    auto attended = layer.block->forward(x, *layer.attention,
                                         {.mask = mask,
                                          .query_mask = mask,
                                          .position = batch.position,
                                          .state = state.empty() ? AttentionState() : state[i],
                                          .generator = generator,
                                          .measure = measure});
    if (!state.empty()) result.state.push_back(std::move(attended.state));
    if (attended.auxiliary_loss.defined())
      result.auxiliary_loss =
          result.auxiliary_loss.defined() ? result.auxiliary_loss + attended.auxiliary_loss : attended.auxiliary_loss;
    measured.add(layer.plugin, attended.metrics);
  }
  result.metrics = measured.take();
  result.logits = head_->forward(norm_ ? norm_->forward(x) : x, mask, batch);
  return result;
}

void Model::on_step(std::int64_t step, const Generator& generator) {
  for (auto& layer : layers_) layer.attention->on_step(step, generator);
}

}  // namespace ablate
