#include "core/trial/model/model.h"

#include <ATen/ops/embedding.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/kernels/dropout_noise.h"
#include "core/kernels/feed_forward.h"
#include "core/shared/requirements.h"
#include "core/trial/model/attention_place.h"
#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {

Block::Block(const ModelOptions& options, const Generator& generator)
    : dropout_(options.dropout), norm_first_(options.norm_first), kernels_(options.kernels) {
  norm1_ = register_module("norm1", options.norm(options.d_model, options.own));
  if (options.hidden == 0) return;
  norm2_ = register_module("norm2", options.norm(options.d_model, options.own));
  feed_forward_ = register_module("feed_forward", options.feed_forward(options, generator));
}

Tensor Block::drop(const Tensor& x) const { return kernels::dropout(x, is_training() ? dropout_ : 0); }

Tensor Block::feed_forward(const Tensor& x) const {
  if (!norm_first_) return norm2_->forward(x + drop(feed_forward_->forward(x)));
  const auto norm = norm2_->layer_norm();
  auto kernel = feed_forward_->kernel();
  if (!norm || !kernel) return x + drop(feed_forward_->forward(norm2_->forward(x)));
  kernel->gamma = norm->weight, kernel->beta = norm->bias;
  kernel->dropout = is_training() ? dropout_ : 0;
  return kernels::feed_forward(x, *kernel, kernels_);
}

AttentionOutput Block::forward(Tensor& x, Attention& attention, AttentionInput input) const {
  input.queries = input.context = norm_first_ ? norm1_->forward(x) : x;
  auto attended = attention.forward(input);
  x = x + drop(attended.output);
  if (!norm_first_) x = norm1_->forward(x);
  if (feed_forward_) x = feed_forward(x);
  return attended;
}

Embedder::Embedder(const ModelOptions& options, const Generator& generator) : options_(options) {
  const auto& fields = options.task.fields;
  for (const auto& field : fields) {
    std::shared_ptr<Table> table;
    std::shared_ptr<Linear> projection;
    const auto name = fields.size() == 1 ? std::string("tokens") : "field_" + field.name;
    if (field.vocabulary > 0)
      modules_.emplace_back(name, table = std::make_shared<Table>(field.vocabulary, options.d_model, generator));
    else
      modules_.emplace_back(name, projection = make_linear(field.reals, options.d_model, true, generator));
    tables_.push_back(std::move(table));
    linears_.push_back(std::move(projection));
  }
  const auto drawn = [&](IntArrayRef sizes) { return empty(sizes).normal_(0, kEmbeddingDeviation, generator); };
  if (options.positions == Positions::kAdded && !options.sinusoidal) positions_ = drawn({options.length(), options.d_model});
  if (options.class_token()) class_token_ = drawn({options.d_model});
}

std::vector<Tensor> Embedder::embeddings() const {
  std::vector<Tensor> all;
  for (const auto& table : tables_)
    if (table) all.push_back(table->weight);
  for (const auto& learned : {positions_, class_token_})
    if (learned.defined()) all.push_back(learned);
  return all;
}

Tensor Embedder::forward(const Batch& batch) const {
  Tensor x;
  for (std::size_t i = 0; i < batch.fields.size(); ++i) {
    const auto& field = batch.fields[i];
    const auto embedded = tables_[i] ? at::embedding(tables_[i]->weight, field)
                                     : linears_[i]->forward(field.to(linears_[i]->weight.scalar_type()));
    x = x.defined() ? x + embedded : embedded;
  }
  if (class_token_.defined()) x = cat({class_token_.expand({x.size(0), 1, -1}), x}, 1);
  if (options_.positions != Positions::kAdded) return x;
  const auto added = options_.sinusoidal ? sinusoids(x.size(1), x.size(2), x.options()) : positions_;
  return x + added.slice(0, 0, x.size(1));
}

Tensor sinusoids(std::int64_t length, std::int64_t channels, const TensorOptions& options) {
  constexpr double kBase = 10000;
  const auto wide = options.dtype(kFloat).requires_grad(false);
  const auto half = (channels + 1) / 2;
  const auto angle = arange(length, wide).unsqueeze(1) *
                     (arange(half, wide) * (-std::log(kBase) / static_cast<double>(half))).exp().unsqueeze(0);
  return cat({angle.sin(), angle.cos()}, 1).narrow(1, 0, channels).to(options.dtype());
}

bool carries_state(const PluginGroup& attentions, const FindPlugin& find) {
  return std::ranges::any_of(attentions.all,
                             [&](const auto& one) { return promises_of(Kind::kAttention, one, find).stateful; });
}

Model::Model(const ModelOptions& options, const PluginGroup& attentions, bool carries, const FindPlugin& find,
             const MakeHead& make_head, const Generator& generator)
    : options_(options), embedder_(std::make_shared<Embedder>(options, generator)), carries_(carries) {
  if (embedder_->positions().defined()) register_parameter("positions", embedder_->positions());
  if (embedder_->class_token().defined()) register_parameter("class_token", embedder_->class_token());
  for (const auto& [name, module] : embedder_->modules()) register_module(name, module);
  for (std::int64_t i = 0; i < options.layers; ++i)
    layers_.push_back({"", register_module("layer" + std::to_string(i + 1), std::make_shared<Block>(options, generator)), {}});
  // Post-norm layers already end with a norm.
  if (options.norm_first || options.layers == 0) norm_ = register_module("norm", options.norm(options.d_model, options.own));
  head_ = register_module("classifier", make_head(options, options.tied_output ? embedder_->table() : Tensor(), generator));
  // Attentions are drawn last, so that all other weights start the same: trials of one seed differ only in the attention.
  auto place = attention_place(options, carries);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto entry = i % attentions.all.size();
    const auto& attention = attentions.all[entry];
    place.layer = static_cast<std::int64_t>(i);
    layers_[i].plugin = attention.id;
    if (auto why = unpadded(attention.id, promises_of(Kind::kAttention, attention, find)); !why.empty())
      padding_refusal_ = std::move(why);  // thrown if an example is padded
    layers_[i].attention = register_module(
        "layer" + std::to_string(i + 1) + "_attention",
        make_attention(attention, place, find, generator, shared_, attentions.is_list ? fmt::format("{}.", entry) : ""));
  }
  for (const auto& [name, tensor] : shared_) {
    auto plain = "shared_" + name;
    std::replace(plain.begin(), plain.end(), '.', '_');
    register_parameter(plain, tensor);
  }
  const auto initial = carries && options.segment == 0 ? initial_state(1) : ModelState();
  stateful_ = std::any_of(initial.begin(), initial.end(), [](const auto& layer) { return !layer.empty(); });
}

ModelState Model::initial_state(std::int64_t batch) const {
  ModelState state;
  for (const auto& layer : layers_) state.push_back(layer.attention->initial_state(batch));
  return state;
}

/// Sums of the metrics that layers report, each with the number of layers that report it.
class LayerMeans {
 public:
  /// Throws Error for a name or a unit that no metric may have.
  void add(const std::string& plugin, const std::vector<Measurement>& metrics);
  /// Returns the means, named "PLUGIN/name". Can be called only once, because the call moves the sums out.
  std::vector<Measurement> take();

 private:
  std::map<std::string, std::pair<Measurement, int>> sums_;
};

void LayerMeans::add(const std::string& plugin, const std::vector<Measurement>& metrics) {
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

std::vector<Measurement> LayerMeans::take() {
  std::vector<Measurement> means;
  for (auto& [name, sum] : sums_) {
    sum.first.value /= sum.second;
    means.push_back(std::move(sum.first));
  }
  return means;
}

struct Model::Pass {
  const Generator& generator;
  bool measure;
  LayerMeans measured = {};
  Tensor auxiliary_loss = {};
};

ModelOutput Model::forward(const Batch& batch, const ModelState& state, const Generator& generator, bool measure) const {
  auto x = embedder_->forward(batch);
  auto mask = batch.mask;
  if (mask.defined() && !padding_refusal_.empty()) throw Error(padding_refusal_);
  if (options_.class_token() && mask.defined()) mask = cat({ones({mask.size(0), 1}, mask.options()), mask}, 1);
  x = kernels::dropout(x, is_training() ? options_.dropout : 0);
  Pass pass{generator, measure};
  ModelOutput result{.state = state};
  x = options_.segment > 0 ? through_segments(x, mask, pass)
                           : through_layers(std::move(x), mask, batch.position, result.state, pass);
  result.auxiliary_loss = pass.auxiliary_loss;
  result.metrics = pass.measured.take();
  result.logits = head_->forward(norm_ ? norm_->forward(x) : x, mask, batch);
  return result;
}

Tensor Model::through_layers(Tensor x, const Tensor& mask, const Tensor& position, ModelState& state, Pass& pass) const {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    auto& layer = layers_[i];
    auto attended = layer.block->forward(x, *layer.attention,
                                         {.mask = mask,
                                          .query_mask = mask,
                                          .position = position,
                                          .state = state.empty() ? AttentionState() : state[i],
                                          .generator = pass.generator,
                                          .measure = pass.measure});
    if (!state.empty()) state[i] = std::move(attended.state);
    if (attended.auxiliary_loss.defined())
      pass.auxiliary_loss =
          pass.auxiliary_loss.defined() ? pass.auxiliary_loss + attended.auxiliary_loss : attended.auxiliary_loss;
    pass.measured.add(layer.plugin, attended.metrics);
  }
  return x;
}

/// Averages auxiliary losses over the segments that learn from them.
Tensor Model::through_segments(const Tensor& x, const Tensor& mask, Pass& pass) const {
  const auto rows = x.size(0), end = x.size(1), length = options_.segment;
  auto state = carries_ ? initial_state(rows) : ModelState();
  std::vector<Tensor> parts;
  Tensor auxiliary_loss;
  double learning = 0;
  for (std::int64_t at = 0; at < end; at += length) {
    const bool learns = c10::GradMode::is_enabled() && (options_.cut != Cut::kBeforeLast || at + length == end);
    pass.auxiliary_loss.reset();
    {
      const c10::AutoGradMode guard(learns);
      parts.push_back(through_layers(x.narrow(1, at, length), mask.defined() ? mask.narrow(1, at, length) : mask,
                                     full({rows}, at, x.options().dtype(kLong)), state, pass));
    }
    if (options_.cut != Cut::kNowhere) state = detached(state);
    if (!learns || !pass.auxiliary_loss.defined()) continue;
    auxiliary_loss = auxiliary_loss.defined() ? auxiliary_loss + pass.auxiliary_loss : pass.auxiliary_loss;
    ++learning;
  }
  pass.auxiliary_loss = auxiliary_loss.defined() ? auxiliary_loss / learning : auxiliary_loss;
  return cat(parts, 1);
}

void Model::on_step(std::int64_t step, const Generator& generator) {
  for (auto& layer : layers_) layer.attention->on_step(step, generator);
}

ModelState detached(const ModelState& state) {
  ModelState result = state;
  for (auto& layer : result)
    for (auto& tensor : layer) tensor = tensor.detach();
  return result;
}

}  // namespace ablate
