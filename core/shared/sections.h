// The parameters of a trial that no plugin declares: sections [model] and [train] of a study.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "core/shared/trial_spec.h"

namespace ablate {

/// Parsed once; any thread.
std::span<const ParameterInfo> model_parameters();
std::span<const ParameterInfo> train_parameters();

/// Which member of a trial's section a parameter fills.
template <class Section>
struct Member {
  std::string name;
  std::variant<std::int64_t Section::*, double Section::*, bool Section::*, std::string Section::*> pointer;
};

/// Of the parameters, in their order; those of [train] that its parts bring (TrainSpec::own) come behind, and fill no member.
std::span<const Member<ModelSpec>> model_members();
std::span<const Member<TrainSpec>> train_members();

/// Whether train.device may say so: "cpu", "cuda" or "cuda:N".
bool is_device(const std::string& text);

}  // namespace ablate
