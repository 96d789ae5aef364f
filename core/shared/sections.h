// The parameters of a trial that no plugin declares: sections [model] and [train] of a study.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "core/shared/trial_spec.h"

namespace ablate {

/// Each list is parsed once. Both functions may be called from any thread.
std::span<const ParameterInfo> model_parameters();
std::span<const ParameterInfo> train_parameters();

/// Member of a trial's section for a parameter. Parameters of choices share the member `own`: a map by parameter name.
template <class Section>
struct Member {
  std::string name;
  std::variant<std::int64_t Section::*, double Section::*, bool Section::*, std::string Section::*, nlohmann::json Section::*>
      pointer;
};

/// Members of all parameters, in the order of the parameters.
std::span<const Member<ModelSpec>> model_members();
std::span<const Member<TrainSpec>> train_members();

/// True if train.device may have this value: "cpu", "cuda" or "cuda:N".
bool is_device(const std::string& text);

}  // namespace ablate
