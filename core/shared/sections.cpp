#include "core/shared/sections.h"

namespace ablate {
namespace {

constexpr Parameter kModel[] = {
    integer("layers", "2", {1, 64}, "encoder layers"),
    integer("d_model", "64", {1, 8192}, "channels of a token between layers"),
    integer("hidden", "128", {1, 65536}, "channels inside the feed-forward part of a layer"),
    real("dropout", "0.1", {0, 0.9}, "probability of dropping a channel: embedding, attention output, feed-forward"),
    text("pooling", "\"mean\"", "mean|cls",
         "what the classifier sees: the mean over real tokens, or a learned class token put first"),
};

constexpr Parameter kTrain[] = {
    integer("steps", "1000", {1, 1e9}, "optimiser steps", "steps"),
    integer("batch", "32", {1, 65536}, "examples a step", "examples"),
    real("learning_rate", "0.0001", {0, 10}, "AdamW's learning rate at its peak"),
    text(
        "schedule", "\"one-cycle\"", "constant|one-cycle|cosine|inverse-sqrt",
        "learning rate after the warm-up: flat; linearly to 0 at the last step; half a cosine to 0; times sqrt(warmup / step)"),
    integer("warmup", "0", {0, 1e9}, "steps over which the learning rate rises linearly from 0", "steps"),
    real("weight_decay", "0", {0, 10}, "AdamW's decoupled weight decay"),
    real("beta1", "0.9", {0, 0.999999}, "AdamW's decay of the gradient's average"),
    real("beta2", "0.999", {0, 0.999999}, "AdamW's decay of the squared gradient's average"),
    real("epsilon", "1e-6", {1e-16, 1}, "AdamW's denominator term"),
    real("clip", "0", {0, 1e9}, "largest norm of the gradient of all weights together; 0: not clipped"),
    integer("evaluate_every", "0", {0, 1e9}, "steps between evaluations on the dev split; 0: ten over the run", "steps"),
    integer("evaluate_batches", "0", {0, 1e9}, "batches of each dev evaluation; 0: the whole dev split", "batches"),
    integer("test_batches", "0", {0, 1e9}, "batches of the test split, with the best dev checkpoint; 0: all of it", "batches"),
    boolean("shuffle_labels", "false",
            "control: train on labels that are shuffled among the examples; dev accuracy must stay at chance"),
    text("dtype", "\"float32\"", "float32|bfloat16",
         "type of weights and activations; the optimiser keeps float32 weights beside bfloat16 ones"),
    text("device", "\"cpu\"", "", "cpu, cuda or cuda:N"),
    integer("threads", "1", {1, 1024}, "processor threads of the trial", "threads"),
};

std::vector<ParameterInfo> parsed(std::span<const Parameter> parameters) {
  std::vector<ParameterInfo> result;
  for (const auto& parameter : parameters) result.push_back(describe(parameter));
  return result;
}

}  // namespace

std::span<const ParameterInfo> model_parameters() {
  static const auto parameters = parsed(kModel);
  return parameters;
}

std::span<const ParameterInfo> train_parameters() {
  static const auto parameters = parsed(kTrain);
  return parameters;
}

}  // namespace ablate
