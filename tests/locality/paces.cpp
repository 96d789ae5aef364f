// paces SCHEDULE PARAMETER VALUE: what [train] says of the parameter, and the rates of nine steps with it.
#include <iostream>

#include "core/shared/schedules.h"
#include "core/shared/sections.h"
#include "core/shared/trial_spec.h"

int main(int, char** arguments) {
  const std::string schedule = arguments[1], own = arguments[2];
  nlohmann::json section;
  for (const auto& parameter : ablate::train_parameters()) {
    section[parameter.name] = parameter.default_value;
    if (parameter.name == own) std::cout << own << ": " << parameter.default_value << ", read with " << parameter.when;
  }
  section["schedule"] = schedule;
  section[own] = nlohmann::json::parse(arguments[3]);
  ablate::TrialSpec trial;
  trial.train = ablate::train_from_json(section);
  for (const auto& [name, values, unused] : ablate::host_sections(trial))
    if (name == "train") std::cout << "; train." << own << " = " << values.at(own) << "\n";
  for (int step = 1; step <= 9; ++step)
    std::cout << ablate::schedule_of(schedule).pace({step, 9, 0, trial.train.own}).rate << (step < 9 ? " " : "\n");
}
