#include "core/shared/sections.h"

#include <algorithm>

#include "core/shared/choices.h"
#include "core/shared/dtypes.h"
#include "core/shared/poolings.h"
#include "core/shared/schedules.h"

namespace ablate {
namespace {

std::vector<ParameterInfo> parsed(std::initializer_list<Parameter> parameters) {
  std::vector<ParameterInfo> result;
  for (const auto& parameter : parameters) result.push_back(describe(parameter));
  return result;
}

std::vector<ParameterInfo> model_section() {
  const auto poolings = choices_of(kPoolings), pooling = help_of("what a classifier sees", kPoolings);
  return parsed({
      integer("layers", "2", {0, 64}, "layers; 0: embeddings and classifier alone, a baseline"),
      integer("d_model", "64", {1, 8192}, "channels of a token between layers"),
      integer("hidden", "128", {0, 65536}, "channels inside the feed-forward part of a layer; 0: layers without one"),
      real("dropout", "0.1", {0, 0.9}, "probability of dropping a channel: embedding, attention output, feed-forward"),
      real("inner_dropout", "0", {0, 0.9},
           "probability of dropping a channel inside the feed-forward part, behind its activation"),
      integer("attention_width", "0", {0, 8192}, "channels of all heads of an attention together; 0: d_model"),
      real("attention_dropout", "0", {0, 0.9}, "probability of dropping an attention weight, where the attention promises it"),
      text("pooling", "\"mean\"", poolings.c_str(), pooling.c_str()),
      text("classifier", "\"linear\"", "linear|mlp",
           "on what is pooled, or stands at a target: a linear layer, or linear, ReLU, linear"),
      integer("classifier_hidden", "0", {0, 65536}, "channels between the two layers of an mlp classifier; 0: d_model"),
      text("positions", "\"learned\"", "learned|sinusoidal|rotary|none",
           "how positions are told: added to the embedding (learned or sinusoidal), turning queries and keys (where that is "
           "promised), or not at all"),
      boolean("causal", "false", "a position sees earlier ones alone, also where the task does not ask for it"),
      text("norm", "\"pre\"", "pre|post", "layer norm before each part of a layer, or after its residual"),
      text("activation", "\"gelu\"", "gelu|relu", "of the feed-forward part"),
      integer(
          "segment", "0", {0, 1e9},
          "an example is read in segments of so many positions, which divide the task's length; what layers carry goes from "
          "one to the next, and the head sees all of them; 0: whole",
          "positions"),
      text("cut", "\"between\"", "nowhere|between|before-last",
           "where gradients are cut in an example of several segments: nowhere (as if it were whole), between them, or before "
           "the last one, where the earlier ones keep nothing for a backward pass"),
      boolean("tied_output", "false", "next-token logits use the embedding's weights"),
  });
}

std::vector<ParameterInfo> train_section() {
  const auto dtypes = choices_of(kDtypes);
  const auto schedules = choices_of(kSchedules), schedule = help_of("learning rate after a linear warm-up", kSchedules);
  return parsed({
      integer("steps", "1000", {1, 1e9}, "optimiser steps", "steps"),
      integer("batch", "32", {1, 65536}, "examples a step", "examples"),
      real("learning_rate", "0.0001", {0, 10}, "AdamW's learning rate at its peak"),
      text("schedule", "\"one-cycle\"", schedules.c_str(), schedule.c_str()),
      integer("accumulate", "1", {1, 65536},
              "batches to a step: their gradients are added up, the loss is the mean over the targets of all", "batches"),
      integer("warmup", "0", {0, 1e9}, "steps over which the learning rate rises linearly from 0", "steps"),
      real("weight_decay", "0", {0, 10}, "AdamW's decoupled weight decay"),
      real("beta1", "0.9", {0, 0.999999}, "AdamW's decay of the gradient's average"),
      real("beta1_low", "0", {0, 0.999999},
           "with the one-cycle schedule beta1 falls to this while the rate rises, and comes back as it falls; 0: it stays"),
      real("beta2", "0.999", {0, 0.999999}, "AdamW's decay of the squared gradient's average"),
      real("epsilon", "1e-6", {1e-16, 1}, "AdamW's denominator term"),
      real("clip", "0", {0, 1e9}, "largest norm of the gradient of all weights together; 0: not clipped"),
      integer(
          "loss_piece", "0", {0, 1e9},
          "targets whose logits are in memory at a time, for large vocabularies: the same loss up to rounding; 0: all of them",
          "targets"),
      integer("evaluate_every", "0", {0, 1e9}, "steps between evaluations on the dev split; 0: ten over the run", "steps"),
      integer("evaluate_batches", "0", {0, 1e9},
              "batches of each dev evaluation, a sample of the split that is the same for all trials (of a stream its first "
              "places); 0: the whole dev split",
              "batches"),
      integer("test_batches", "0", {0, 1e9},
              "batches of the test split, chosen likewise, with the best dev checkpoint; 0: all of it", "batches"),
      integer(
          "stride", "0", {0, 1e9},
          "evaluation of a stream by attentions without state: places that a window of the task's length moves; 0: its length, "
          "segments without context",
          "places"),
      boolean("shuffle_labels", "false",
              "control: train on labels that are shuffled among the examples; dev accuracy must stay at chance"),
      text("dtype", "\"float32\"", dtypes.c_str(),
           "type of weights and activations; the optimiser keeps float32 weights beside bfloat16 ones"),
      text("device", "\"cpu\"", "", "cpu, cuda or cuda:N"),
      integer("threads", "1", {1, 1024}, "processor threads of the trial", "threads"),
  });
}

}  // namespace

std::span<const ParameterInfo> model_parameters() {
  static const auto parameters = model_section();
  return parameters;
}

std::span<const ParameterInfo> train_parameters() {
  static const auto parameters = train_section();
  return parameters;
}

bool is_device(const std::string& text) {
  if (text == "cpu" || text == "cuda") return true;
  const std::string prefix = "cuda:";
  const auto number = text.starts_with(prefix) ? text.substr(prefix.size()) : "";
  return !number.empty() && number.size() <= 3 &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace ablate
