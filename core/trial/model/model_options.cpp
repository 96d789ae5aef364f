#include "core/trial/model/model_options.h"

#include "core/records/setting_paths.h"
#include "core/shared/requirements.h"

namespace ablate {
namespace {

/// Returns the positions as the attention interface names them.
Positions asked_of_attention(PositionsBy by) {
  switch (by) {
    case PositionsBy::kRotary:
      return Positions::kRotary;
    case PositionsBy::kNone:
      return Positions::kNone;
    case PositionsBy::kLearned:
    case PositionsBy::kSinusoidal:
      break;
  }
  return Positions::kAdded;
}

}  // namespace

ModelOptions model_options(const TaskInfo& task, const ModelSpec& model) {
  const auto required = requirements_of({.model = model}, shape_of(task));
  const auto positions = kPositionsBy.of(model.positions);
  ModelOptions options{
      .task = task,
      .layers = model.layers,
      .d_model = model.d_model,
      .hidden = model.hidden,
      .attention_width = model.attention_width,
      .dropout = model.dropout,
      .inner_dropout = model.inner_dropout,
      .attention_dropout = model.attention_dropout,
      .pooling = &kPoolings[index_of_choice(kPoolings, model.pooling)],
      .classifier = kClassifiers.of(model.classifier),
      .classifier_hidden = model.classifier_hidden,
      .positions = asked_of_attention(positions),
      .causal = required.causal || required.looks_back,
      .sinusoidal = positions == PositionsBy::kSinusoidal,
      .norm_first = kNormStands.of(model.norm) == NormStand::kPre,
      .norm = norm_of(model.norm_type),
      .feed_forward = feed_forward_of(model.feed_forward),
      .activation = activation_of(model.activation),
      .own = model.own,
      .tied_output = model.tied_output,
      .segment = model.segment,
      .cut = kCuts.of(model.cut),
  };
  if (options.tied_output && (task.fields.size() != 1 || task.fields.front().vocabulary != task.classes))
    throw RefusedModel(setting::kTiedOutput, "needs one field of ids, with as many ids as classes: the first field has " +
                                                 std::to_string(task.fields.front().vocabulary) + " ids, and the task has " +
                                                 std::to_string(task.classes) + " classes");
  const auto asks = asks_of(task.objective);
  if (asks.each && asks.pooled && options.classifier == Classifier::kLinear)
    throw RefusedModel(setting::kClassifier,
                       "= linear would make each position add the same logits in every example: choose mlp, because "
                       "all targets are decoded from one vector");
  if (options.segment == 0) {
    if (options.causal && options.class_token())
      throw RefusedModel(setting::kCausal, "needs another pooling than cls: the class token is first and sees only itself");
    return options;
  }
  if (task.sampling == Sampling::kStream)
    throw RefusedModel(setting::kSegment, "needs a task of examples: a stream is read in segments of its task's length");
  if (task.length % options.segment != 0)
    throw RefusedModel(setting::kSegment, "= " + std::to_string(options.segment) + " does not divide the task's length of " +
                                              std::to_string(task.length));
  if (options.class_token())
    throw RefusedModel(setting::kSegment, "needs another pooling than cls: the class token is first and sees only one segment");
  return options;
}

}  // namespace ablate
