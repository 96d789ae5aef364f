// The model: embeddings, blocks with their attentions, a norm, and an objective's head.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ablate/attention.h"
#include "core/trial/model/batch.h"
#include "core/trial/model/head.h"
#include "core/trial/model/instances.h"
#include "core/trial/model/layers.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// One layer of the model: attention and feed-forward part, each with its norm and its residual. Pre-norm: x +=
/// attention(norm(x)); x += feed_forward(norm(x)). Post-norm: a norm follows each sum. If core/kernels has the feed-forward
/// part with its norm and residual, the kernel replaces all three.
class Block final : public Module {
 public:
  Block(const ModelOptions& options, const Generator& generator);

  /// @param x [rows, positions, d_model], replaced by the layer's output
  /// @param input everything except queries and context
  /// @return all outputs of the attention
  AttentionOutput forward(Tensor& x, Attention& attention, AttentionInput input) const;

 private:
  Tensor drop(const Tensor& x) const;
  Tensor feed_forward(const Tensor& x) const;

  double dropout_;
  bool norm_first_;
  kernels::Choice kernels_;
  std::shared_ptr<Norm> norm1_, norm2_;
  std::shared_ptr<FeedForward> feed_forward_;  ///< null: there is none
};

/// Sum of the fields' embeddings (ids) and projections (reals), plus added positions. A class token, if the model has one,
/// comes first.
class Embedder {
 public:
  /// Draws the weights of each field in turn, then of positions and class token. The model registers them.
  Embedder(const ModelOptions& options, const Generator& generator);

  /// @return [rows, positions, d_model]
  Tensor forward(const Batch& batch) const;

  std::vector<std::pair<std::string, std::shared_ptr<Module>>> modules() const { return modules_; }
  const Tensor& positions() const { return positions_; }      ///< learned: [positions, d_model]; else undefined
  const Tensor& class_token() const { return class_token_; }  ///< [d_model], or undefined
  /// Table of the first field, which has ids: [vocabulary, d_model].
  const Tensor& table() const { return tables_.front()->weight; }
  /// Parameters that are looked up, not multiplied: tables of ids, learned positions, the class token.
  std::vector<Tensor> embeddings() const;

 private:
  ModelOptions options_;
  std::vector<std::shared_ptr<Table>> tables_;    ///< by field; null for reals
  std::vector<std::shared_ptr<Linear>> linears_;  ///< by field; null for ids
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> modules_;
  Tensor positions_, class_token_;
};

/// Returns [length, channels]: sines and cosines of wavelengths from 2 pi to 20000 pi (Vaswani et al. 2017, section 3.5).
Tensor sinusoids(std::int64_t length, std::int64_t channels, const TensorOptions& options);

/// States of all layers, carried from segment to segment.
using ModelState = std::vector<AttentionState>;

struct ModelOutput {
  Logits logits;                     ///< for the batch's targets
  Tensor auxiliary_loss;             ///< scalar, or undefined
  ModelState state;                  ///< by layer, with its graph; empty if forward() got no state
  std::vector<Measurement> metrics;  ///< "PLUGIN/name", averaged over the plugin's layers that report it
};

class Model final : public Module {
 public:
  using MakeHead = std::function<std::shared_ptr<Head>(const ModelOptions&, const Tensor& table, const Generator&)>;

  /// Throws Error if an attention lacks a required promise.
  /// @param attentions layer i uses entry i modulo the number of entries
  /// @param carries true if states are carried from segment to segment
  Model(const ModelOptions& options, const PluginGroup& attentions, bool carries, const FindPlugin& find,
        const MakeHead& make_head, const Generator& generator);

  /// An example that is read in segments (ModelOptions) begins with new states.
  /// @param state initial_state(), or the detached state after the previous segment; empty: no state is carried
  ModelOutput forward(const Batch& batch, const ModelState& state, const Generator& generator, bool measure) const;

  /// Returns the initial state of each layer. It is empty for a layer without state.
  ModelState initial_state(std::int64_t batch) const;
  bool stateful() const { return stateful_; }  ///< true if states are carried from batch to batch

  void on_step(std::int64_t step, const Generator& generator);

  std::vector<Tensor> embeddings() const { return embedder_->embeddings(); }  ///< parameters that are looked up

 private:
  struct Layer {
    std::string plugin;
    std::shared_ptr<Block> block;
    std::shared_ptr<Attention> attention;
  };

  /// Values that a forward pass carries through the layers, beside the tokens.
  struct Pass;
  /// Returns the output of the last layer, and replaces `state` by the layers' new states.
  Tensor through_layers(Tensor x, const Tensor& mask, const Tensor& position, ModelState& state, Pass& pass) const;
  Tensor through_segments(const Tensor& x, const Tensor& mask, Pass& pass) const;

  ModelOptions options_;
  std::shared_ptr<Embedder> embedder_;
  std::vector<Layer> layers_;
  std::shared_ptr<Norm> norm_;
  std::shared_ptr<Head> head_;
  SharedTensors shared_;
  bool stateful_ = false, carries_;
  std::string padding_refusal_;  ///< reason to refuse padded sequences; "": they are accepted
};

/// Returns the same states without their graph.
ModelState detached(const ModelState& state);

/// True if one of the attentions carries a state.
bool carries_state(const PluginGroup& attentions, const FindPlugin& find);

}  // namespace ablate
