// rates SCHEDULE PARAMETER VALUE [NAME...]: prints the parameter of [train], and the rates of nine steps with it. Then prints
// other parameters of [model] and [train], and the loss scale of float16.
#include <iostream>

#include "core/shared/schedules.h"
#include "core/shared/sections.h"
#include "core/shared/trial_spec.h"
#include "core/trial/training/precision.h"

namespace {

std::string description(const std::string& name) {
  for (const auto parameters : {ablate::model_parameters(), ablate::train_parameters()})
    for (const auto& parameter : parameters)
      if (parameter.name == name)
        return expectation(parameter) + "; default " + parameter.default_value.dump() +
               (parameter.when.empty() ? "" : "; read with " + parameter.when);
  return "not asked for";
}

}  // namespace

int main(int count, char** arguments) {
  const std::string schedule = arguments[1], own = arguments[2];
  nlohmann::json section;
  for (const auto& parameter : ablate::train_parameters()) {
    section[parameter.name] = parameter.default_value;
    if (parameter.name == own) std::cout << own << ": " << parameter.default_value << ", read with " << parameter.when;
  }
  section["schedule"] = schedule, section["dtype"] = "float16", section["loss_scale"] = 64;
  section[own] = nlohmann::json::parse(arguments[3]);
  ablate::TrialSpec trial;
  trial.train = ablate::train_from_json(section);
  for (const auto& [name, values, unused] : ablate::host_sections(trial))
    if (name == "train") std::cout << "; train." << own << " = " << values.at(own) << "\n";
  for (int step = 1; step <= 9; ++step)
    std::cout << ablate::schedule_of(schedule).rate({step, 9, 0, trial.train.own}).factor << (step < 9 ? " " : "\n");
  for (int i = 4; i < count; ++i) std::cout << arguments[i] << ": " << description(arguments[i]) << "\n";
  std::cout << "float16 with a loss scale of " << ablate::precision_of(trial.train.dtype, trial.train.own).loss_scale << "\n";
}
