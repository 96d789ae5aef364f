// Options of the model: the study's settings, with the task's description of its sequences.
#pragma once

#include "ablate/attention.h"
#include "ablate/task.h"
#include "core/kernels/choice.h"
#include "core/shared/model_choices.h"
#include "core/shared/objectives.h"
#include "core/shared/poolings.h"
#include "core/shared/trial_spec.h"
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
  std::int64_t piece = 0;  ///< number of targets whose logits are in memory at a time; 0: all
  const PoolingInfo* pooling = kPoolings;
  Classifier classifier = Classifier::kLinear;
  std::int64_t classifier_hidden = 0;  ///< channels between an mlp's layers; 0: d_model
  Positions positions = Positions::kAdded;
  bool causal = false;      ///< required by the task, or set by the study
  bool sinusoidal = false;  ///< added positions are sinusoids, not learned
  bool norm_first = true;   ///< false: post-norm, as in Vaswani et al. 2017
  MakeNorm norm = norms::layer_norm;
  MakeFeedForward feed_forward = feed_forwards::mlp;
  Activation activation = activations::gelu;
  kernels::Choice kernels = kernels::Choice::kFused;
  nlohmann::json own;        ///< values of the choices' own parameters, by name
  bool tied_output = false;  ///< the head uses the weights of the embedding
  std::int64_t segment = 0;  ///< positions of a segment of an example; 0: examples are read whole
  Cut cut = Cut::kBetween;

  bool class_token() const { return asks_of(task.objective).pooled && pooling->class_token; }
  bool hands_on() const { return task.sampling == Sampling::kStream || segment > 0; }  ///< true if states can be carried
  std::int64_t length() const { return task.length + (class_token() ? 1 : 0); }        ///< sequence length with the class token
};

/// Error for a value that does not fit another value, or the task.
struct RefusedModel : Error {
  RefusedModel(const char* of, const std::string& why) : Error(std::string(of) + ' ' + why), path(of) {}
  const char* path;  ///< path of the refused setting (core/records/setting_paths.h)
};

/// Throws RefusedModel if a value does not fit.
ModelOptions model_options(const TaskInfo& task, const ModelSpec& model);

}  // namespace ablate
