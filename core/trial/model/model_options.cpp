#include "core/trial/model/model_options.h"

#include <algorithm>

#include "core/util/error.h"

namespace ablate {
namespace {

// The schema has refused all other names.
const PoolingInfo* pooling_of(const std::string& name) {
  return std::find_if(std::begin(kPoolings), std::end(kPoolings), [&](const auto& one) { return one.name == name; });
}

}  // namespace

ModelOptions model_options(const TaskInfo& task, const Values& model) {
  const auto positions = model.text("positions");
  ModelOptions options{
      .task = task,
      .layers = model.integer("layers"),
      .d_model = model.integer("d_model"),
      .hidden = model.integer("hidden"),
      .dropout = model.real("dropout"),
      .attention_dropout = model.real("attention_dropout"),
      .pooling = pooling_of(model.text("pooling")),
      .classifier = model.text("classifier") == "mlp" ? Classifier::kMlp : Classifier::kLinear,
      .positions = positions == "rotary" ? Positions::kRotary
                   : positions == "none" ? Positions::kNone
                                         : Positions::kAdded,
      .sinusoidal = positions == "sinusoidal",
      .norm_first = model.text("norm") == "pre",
      .relu = model.text("activation") == "relu",
      .tied_output = model.boolean("tied_output"),
  };
  if (options.tied_output && (task.fields.size() != 1 || task.fields.front().vocabulary != task.classes))
    throw Error("model.tied_output needs one field of ids whose vocabulary is the classes: the task's are " +
                std::to_string(task.fields.front().vocabulary) + " and " + std::to_string(task.classes));
  return options;
}

}  // namespace ablate
