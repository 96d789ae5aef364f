// The model of parts: embeddings, blocks with their attentions, a norm, and an objective's head.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/trial/model/batch.h"
#include "core/trial/model/block.h"
#include "core/trial/model/embedder.h"
#include "core/trial/model/head.h"
#include "core/trial/model/instances.h"
#include "core/trial/model/model_options.h"

namespace ablate {

/// States of all layers: what is carried from segment to segment.
using ModelState = std::vector<AttentionState>;

struct ModelOutput {
  Logits logits;                     ///< of the batch's targets
  Tensor auxiliary_loss;             ///< scalar, or undefined
  ModelState state;                  ///< by layer, with its graph; empty where none was given
  std::vector<Measurement> metrics;  ///< "PLUGIN/name", averaged over the layers of that plugin that report it
};

class Model final : public Module {
 public:
  using MakeHead = std::function<std::shared_ptr<Head>(const ModelOptions&, const Tensor& table, const Generator&)>;

  /// @param attention the study's section, or a list of them: layer i takes number i modulo their count @param carries whether
  /// states will be handed on. Throws Error where an attention does not promise what is asked of it.
  Model(const ModelOptions& options, const nlohmann::json& attention, bool carries, const FindPlugin& find,
        const MakeHead& make_head, const Generator& generator);

  /// An example that is read in segments (ModelOptions) begins with states of its own.
  /// @param state initial_state's, or the last segment's, detached; empty: none is carried
  ModelOutput forward(const Batch& batch, const ModelState& state, const Generator& generator, bool measure) const;

  /// By layer; empty where no layer carries any.
  ModelState initial_state(std::int64_t batch) const;
  bool stateful() const { return stateful_; }  ///< hands states on from batch to batch

  void on_step(std::int64_t step, const Generator& generator);

  std::vector<Tensor> embeddings() const { return embedder_->embeddings(); }  ///< among the parameters

 private:
  struct Layer {
    std::string plugin;
    std::shared_ptr<Block> block;
    std::shared_ptr<Attention> attention;
  };

  /// What goes through the layers in a forward pass, beside the tokens.
  struct Pass;
  /// @param state becomes what the layers hand on @return of the last layer
  Tensor through_layers(Tensor x, const Tensor& mask, const Tensor& position, ModelState& state, Pass& pass) const;
  Tensor through_segments(const Tensor& x, const Tensor& mask, Pass& pass) const;

  ModelOptions options_;
  std::shared_ptr<Embedder> embedder_;
  std::vector<Layer> layers_;
  std::shared_ptr<Norm> norm_;
  std::shared_ptr<Head> head_;
  SharedTensors shared_;
  bool stateful_ = false, carries_;
  std::string padding_refusal_;  ///< why padded sequences are refused; "": they are not
};

/// The same numbers without their graph.
ModelState detached(const ModelState& state);

/// Whether an attention, or one of a list of them, carries a state.
bool carries_state(const nlohmann::json& attention, const FindPlugin& find);

}  // namespace ablate
