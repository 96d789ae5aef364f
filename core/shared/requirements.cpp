#include "core/shared/requirements.h"

#include <algorithm>

#include "core/records/setting_paths.h"
#include "core/registry/plugin_info.h"
#include "core/shared/objectives.h"
#include "core/shared/poolings.h"
#include "core/shared/precisions.h"

namespace ablate {
namespace {

bool has_class_token(const ModelSpec& model) {
  return std::any_of(std::begin(kPoolings), std::end(kPoolings),
                     [&](const auto& one) { return one.class_token && model.pooling == one.name; });
}

}  // namespace

TaskShape shape_of(const TaskInfo& info) {
  return {.length = info.length,
          .causal = info.causal,
          .holes = info.holes,
          .pooled = asks_of(info.objective).pooled,
          .stream = info.sampling == Sampling::kStream};
}

std::int64_t seen_at_once(const ModelSpec& model, std::int64_t length) {
  return model.segment > 0 ? std::min(model.segment, length) : length;
}

Requirements requirements_of(const TrialSpec& trial, const TaskShape& task) {
  const auto& model = trial.model;
  Requirements required{.causal = task.causal,
                        .holes = task.holes,
                        .padded = task.padded,
                        .looks_back = model.causal,
                        .rotary = model.positions == "rotary",
                        .weight_dropout = model.attention_dropout > 0,
                        .cuda = trial.train.on_cuda(),
                        .half = precision_info(trial.train.dtype).half,
                        .length = seen_at_once(model, task.length),
                        .class_token = task.pooled && has_class_token(model)};
  if (required.length > 0 && required.class_token) ++required.length;
  return required;
}

std::vector<Unpromised> unpromised(Kind kind, const std::string& id, const Capabilities& can, const Requirements& required) {
  std::vector<Unpromised> all;
  const auto refuse = [&](bool refused, const char* key, const std::string& what) {
    if (refused) all.push_back({key, std::string(to_text(kind)) + " " + id + " " + what});
  };
  refuse(required.cuda && !can.cuda, setting::kDevice, "does not promise to run on CUDA devices");
  refuse(required.half && !can.half_precision, setting::kDtype, "does not promise to run in half precision");
  refuse(required.length % can.length_multiple != 0, setting::kTaskPlugin,
         "needs sequences of a multiple of " + std::to_string(can.length_multiple) + " tokens, and the longest has " +
             std::to_string(required.length) + (required.class_token ? " with the class token (model.pooling = \"cls\")" : ""));
  if (kind != Kind::kAttention) return all;
  // Without this promise, the model would have no positions at all, or two kinds of positions.
  refuse(required.rotary && !can.rotary, setting::kPositions,
         "does not promise rotary positions; choose none if it has its own positions, else learned or sinusoidal");
  refuse(required.weight_dropout && !can.weight_dropout, setting::kAttentionDropout,
         "does not promise to drop attention weights; leave model.attention_dropout at 0 for it");
  refuse(required.causal && !can.causal, setting::kTaskPlugin,
         "does not promise causal attention, but later positions of the task contain its targets; `ablate plugins --kind "
         "attention --causal` lists attentions that promise it");
  refuse(required.looks_back && !required.causal && !can.causal, setting::kCausal,
         "does not promise causal attention; leave model.causal false for it");
  refuse(!required.causal && !required.looks_back && !can.bidirectional, setting::kTaskPlugin,
         "promises only causal attention, but the task is about whole sequences; model.causal = true makes all layers causal");
  refuse(required.holes && !can.holes, setting::kTaskPlugin, "does not promise holes, and the task's sequences have holes");
  if (auto why = unpadded(id, can); required.padded && !why.empty()) all.push_back({setting::kTaskPlugin, std::move(why)});
  return all;
}

std::string unpadded(const std::string& attention, const Capabilities& can) {
  if (can.key_padding) return "";
  return "attention " + attention +
         " does not promise key_padding, and the task has sequences of several lengths, which are padded; use an attention "
         "that promises it (ablate plugins ID)";
}

}  // namespace ablate
