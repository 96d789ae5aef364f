#include "core/shared/sections.h"

#include <algorithm>

#include "core/shared/activations.h"
#include "core/shared/feed_forwards.h"
#include "core/shared/model_choices.h"
#include "core/shared/norms.h"
#include "core/shared/optimizers.h"
#include "core/shared/poolings.h"
#include "core/shared/precisions.h"
#include "core/shared/schedules.h"

namespace ablate {
namespace {

/// Parameters of a section as a study writes them, each with its member.
template <class Section>
struct Declared {
  struct Entry {
    /// @param own parameters that the choices of `one` declare
    Entry(const Parameter& one, decltype(Member<Section>::pointer) filled, std::vector<ParameterInfo> own = {})
        : parameter(one), member(filled), brought(std::move(own)) {}

    Parameter parameter;
    decltype(Member<Section>::pointer) member;
    std::vector<ParameterInfo> brought;
  };

  // NOLINTNEXTLINE(google-explicit-constructor): implicit, because a Declared is made only from a list of entries
  Declared(std::initializer_list<Entry> entries) {
    for (const auto& [parameter, member, brought] : entries) {
      parameters.push_back(describe(parameter));
      members.push_back({parameter.name, member});
      for (const auto& own : brought) {
        parameters.push_back(own);
        members.push_back({own.name, &Section::own});
      }
    }
  }

  std::vector<ParameterInfo> parameters;
  std::vector<Member<Section>> members;
};

Declared<ModelSpec> model_section() {
  const auto poolings = choices_of(kPoolings), pooling = help_of("input of the classifier", kPoolings);
  const auto norms = choices_of(kNorms), norm = help_of("norm of layers and head", kNorms);
  const auto feed_forwards = choices_of(kFeedForwards),
             feed_forward = help_of("function of a layer, applied to each position by itself", kFeedForwards);
  const auto activations = choices_of(kActivations), activation = help_of("activation of the feed-forward part", kActivations);
  return {
      {integer("layers", "2", {0, 64}, "layers; 0: only embeddings and classifier, as a baseline"), &ModelSpec::layers},
      {integer("d_model", "64", {1, 8192}, "channels of a token between layers"), &ModelSpec::d_model},
      {when("layers > 0",
            integer("hidden", "128", {0, 65536}, "channels inside the feed-forward part of a layer; 0: layers without one")),
       &ModelSpec::hidden},
      {real("dropout", "0.1", {0, 0.9}, "probability of dropping a channel: embedding, attention output, feed-forward"),
       &ModelSpec::dropout},
      {when("hidden > 0", real("inner_dropout", "0", {0, 0.9},
                               "probability of dropping a channel inside the feed-forward part, behind its activation")),
       &ModelSpec::inner_dropout},
      {when("layers > 0",
            integer("attention_width", "0", {0, 8192}, "channels of all heads of an attention together; 0: d_model")),
       &ModelSpec::attention_width},
      {when("layers > 0", real("attention_dropout", "0", {0, 0.9},
                               "probability of dropping an attention weight, if the attention promises it")),
       &ModelSpec::attention_dropout},
      {text("pooling", "\"mean\"", poolings.c_str(), pooling.c_str()), &ModelSpec::pooling, own_of("pooling", kPoolings)},
      {text("classifier", "\"linear\"", kClassifiers,
            "head on the pooled vector, or on a target's position: a linear layer, or linear, ReLU, linear"),
       &ModelSpec::classifier},
      {when("classifier = mlp",
            integer("classifier_hidden", "0", {0, 65536}, "channels between the two layers of an mlp classifier; 0: d_model")),
       &ModelSpec::classifier_hidden},
      {text("positions", "\"learned\"", kPositionsBy,
            "encoding of positions: added to the embedding (learned or sinusoidal), by turning queries and keys (rotary, if "
            "the attention promises it), or none"),
       &ModelSpec::positions},
      {when("layers > 0",
            boolean("causal", "false", "a position sees only itself and earlier positions, even if the task does not need it")),
       &ModelSpec::causal},
      {when("layers > 0", text("norm", "\"pre\"", kNormStands, "a norm before each part of a layer, or after its residual")),
       &ModelSpec::norm},
      {text("norm_type", "\"layer\"", norms.c_str(), norm.c_str()), &ModelSpec::norm_type, own_of("norm_type", kNorms)},
      {when("hidden > 0", text("feed_forward", "\"mlp\"", feed_forwards.c_str(), feed_forward.c_str())),
       &ModelSpec::feed_forward, own_of("feed_forward", kFeedForwards)},
      {when("hidden > 0", text("activation", "\"gelu\"", activations.c_str(), activation.c_str())), &ModelSpec::activation,
       own_of("activation", kActivations)},
      {integer(
           "segment", "0", {0, 1e9},
           "positions of a segment, which must divide the task's length: an example is read segment by segment, layers carry "
           "their state to the next segment, and the head sees all segments; 0: the whole example",
           "positions"),
       &ModelSpec::segment},
      {when("segment > 0", text("cut", "\"between\"", kCuts,
                                "place at which gradients are cut in an example of several segments: nowhere (as in one "
                                "segment), between all segments, or before the last segment, so that earlier segments "
                                "store nothing for a backward pass")),
       &ModelSpec::cut},
      {boolean("tied_output", "false", "next-token logits use the embedding's weights"), &ModelSpec::tied_output},
  };
}

Declared<TrainSpec> train_section() {
  const auto dtypes = choices_of(kPrecisions), dtype = help_of("type of weights and activations", kPrecisions);
  const auto optimizers = choices_of(kOptimizers), optimizer = help_of("optimiser of the training steps", kOptimizers);
  const auto schedules = choices_of(kSchedules), schedule = help_of("learning rate after a linear warm-up", kSchedules);
  return {
      {integer("steps", "1000", {1, 1e9}, "optimiser steps", "steps"), &TrainSpec::steps},
      {integer("batch", "32", {1, 65536}, "examples a step", "examples"), &TrainSpec::batch},
      {real("learning_rate", "0.0001", {0, 10}, "learning rate at its peak"), &TrainSpec::learning_rate},
      {text("optimizer", "\"adamw\"", optimizers.c_str(), optimizer.c_str()), &TrainSpec::optimizer,
       own_of("optimizer", kOptimizers)},
      {text("schedule", "\"one-cycle\"", schedules.c_str(), schedule.c_str()), &TrainSpec::schedule,
       own_of("schedule", kSchedules)},
      {integer("accumulate", "1", {1, 65536},
               "batches in a step: their gradients are added up, and the loss is the mean over all their targets", "batches"),
       &TrainSpec::accumulate},
      {integer("warmup", "0", {0, 1e9}, "steps over which the learning rate rises linearly from 0", "steps"),
       &TrainSpec::warmup},
      {real("weight_decay", "0", {0, 10}, "AdamW's decoupled weight decay; SGD adds this multiple of a weight to its gradient"),
       &TrainSpec::weight_decay},
      {when("weight_decay > 0", text("decayed", "\"all\"", "all|matrices",
                                     "weights that decay: all, or only matrices (no norms, biases or embeddings)")),
       &TrainSpec::decayed},
      {real("clip", "0", {0, 1e9}, "largest norm of the gradient of all weights together; 0: not clipped"), &TrainSpec::clip},
      {integer(
           "loss_piece", "0", {0, 1e9},
           "targets whose logits are in memory at a time, for large vocabularies: the same loss up to rounding; 0: all targets",
           "targets"),
       &TrainSpec::loss_piece},
      {integer("evaluate_every", "0", {0, 1e9}, "steps between evaluations on the dev split; 0: ten evaluations", "steps"),
       &TrainSpec::evaluate_every},
      {integer("evaluate_batches", "0", {0, 1e9},
               "batches of each dev evaluation, a sample of the split that is the same for all trials (in a stream, its first "
               "positions); 0: the whole dev split",
               "batches"),
       &TrainSpec::evaluate_batches},
      {integer("test_batches", "0", {0, 1e9},
               "batches of the test, with the best weights, sampled as for dev; 0: the whole test split", "batches"),
       &TrainSpec::test_batches},
      {boolean(
           "test_last", "false",
           "also tests the weights of the last step, not only the weights that dev selects: test_last/NAME beside test/NAME"),
       &TrainSpec::test_last},
      {integer("stride", "0", {0, 1e9},
               "positions by which a window of the task's length moves when attentions without state are evaluated on a "
               "stream; 0: the task's length, so that segments have no context",
               "positions"),
       &TrainSpec::stride},
      {boolean("shuffle_labels", "false",
               "control: train on labels that are shuffled among the examples; dev accuracy must stay at chance"),
       &TrainSpec::shuffle_labels},
      {text("kernels", "\"fused\"", "fused|reference",
            "forms of operations on a CPU: fused forms if there are any, or plain operators, which differ by rounding"),
       &TrainSpec::kernels},
      {boolean("graphs", "false",
               "on a CUDA device, steps are recorded and replayed as CUDA graphs, if that gives the bits of plain steps; the "
               "learning rate is rounded to float32"),
       &TrainSpec::graphs},
      {text("dtype", "\"float32\"", dtypes.c_str(), dtype.c_str()), &TrainSpec::dtype, own_of("dtype", kPrecisions)},
      {text("device", "\"cpu\"", "", "cpu, cuda, cuda:N, or auto: cuda if there is a device, else cpu"), &TrainSpec::device},
      {integer("threads", "1", {1, 1024}, "processor threads of the trial", "threads"), &TrainSpec::threads},
  };
}

const Declared<ModelSpec>& model() {
  static const auto section = model_section();
  return section;
}

const Declared<TrainSpec>& train() {
  static const auto section = train_section();
  return section;
}

}  // namespace

std::span<const ParameterInfo> model_parameters() { return model().parameters; }
std::span<const ParameterInfo> train_parameters() { return train().parameters; }
std::span<const Member<ModelSpec>> model_members() { return model().members; }
std::span<const Member<TrainSpec>> train_members() { return train().members; }

bool is_device(const std::string& text) {
  if (text == "cpu" || text == "cuda") return true;
  const std::string prefix = "cuda:";
  const auto number = text.starts_with(prefix) ? text.substr(prefix.size()) : "";
  return !number.empty() && number.size() <= 3 &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace ablate
