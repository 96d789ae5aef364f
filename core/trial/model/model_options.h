// What a study says of the model, with what the task says of its sequences.
#pragma once

#include "ablate/attention.h"
#include "ablate/task.h"
#include "core/kernels/choice.h"
#include "core/shared/model_choices.h"
#include "core/shared/objectives.h"
#include "core/shared/poolings.h"
#include "core/shared/requirements.h"
#include "core/trial/model/activation.h"
#include "core/trial/model/feed_forward.h"
#include "core/trial/model/norm.h"
#include "core/util/error.h"

namespace ablate {

struct ModelOptions {
  TaskInfo task;
  std::int64_t layers = 0, d_model = 0, hidden = 0;  ///< hidden 0: no feed-forward part
  std::int64_t attention_width = 0;                  ///< channels of all heads together; 0: d_model
  double dropout = 0, inner_dropout = 0, attention_dropout = 0;
  std::int64_t piece = 0;  ///< targets whose logits are made at a time; 0: all
  const PoolingInfo* pooling = kPoolings;
  Classifier classifier = Classifier::kLinear;
  std::int64_t classifier_hidden = 0;  ///< channels between an mlp's layers; 0: d_model
  Positions positions = Positions::kAdded;
  Requirements asked;       ///< of the attentions, as far as model and task say it
  bool causal = false;      ///< by the task or by choice
  bool sinusoidal = false;  ///< positions that are added are not learned
  bool norm_first = true;   ///< else after the residual, as in Vaswani et al. 2017
  MakeNorm norm = norms::layer_norm;
  MakeFeedForward feed_forward = feed_forwards::mlp;
  Activation activation = activations::gelu;
  kernels::Choice kernels = kernels::Choice::kFused;
  nlohmann::json own;        ///< values of what choices bring, by name
  bool tied_output = false;  ///< the head's weights are the embedding's
  std::int64_t segment = 0;  ///< positions of a segment of an example; 0: it is read whole
  Cut cut = Cut::kBetween;

  bool class_token() const { return asks_of(task.objective).pooled && pooling->class_token; }
  bool hands_on() const { return task.sampling == Sampling::kStream || segment > 0; }  ///< states, where attentions have any
  std::int64_t length() const { return task.length + (class_token() ? 1 : 0); }        ///< of a sequence, with the class token
};

/// A value that does not go with another, or with the task.
struct RefusedModel : Error {
  RefusedModel(const char* of, const std::string& why) : Error(std::string(of) + ' ' + why), path(of) {}
  const char* path;  ///< core/records/setting_paths.h
};

/// Throws RefusedModel.
ModelOptions model_options(const TaskInfo& task, const ModelSpec& model);

}  // namespace ablate
