#include "core/shared/trial_spec.h"

#include <fmt/format.h>

#include <type_traits>

#include "core/records/setting_paths.h"
#include "core/shared/sections.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using nlohmann::json;

using section::kAttention, section::kModel, section::kSeed, section::kTask, section::kTrain;

/// @param section name of the section
void check(const json& object, std::span<const ParameterInfo> declared, const char* section) {
  for (const auto& parameter : declared)
    if (const auto& value = object.at(parameter.name); !check_value(parameter, value).ok())
      throw Error(fmt::format("{} of [{}] is {}, expected {}", parameter.name, section, value.dump(), expectation(parameter)));
}

template <class Section>
Section section_from_json(const json& object, std::span<const Member<Section>> members) {
  Section section;
  for (const auto& [name, pointer] : members)
    std::visit(
        [&, &name = name](auto member) {
          if constexpr (std::is_same_v<decltype(member), json Section::*>)
            (section.*member)[name] = object.at(name);
          else
            object.at(name).get_to(section.*member);
        },
        pointer);
  return section;
}

template <class Section>
json section_to_json(const Section& section, std::span<const Member<Section>> members) {
  auto object = json::object();
  for (const auto& [name, pointer] : members)
    std::visit(
        [&, &name = name](auto member) {
          if constexpr (std::is_same_v<decltype(member), json Section::*>)
            object[name] = (section.*member).value(name, json());
          else
            object[name] = section.*member;
        },
        pointer);
  return object;
}

}  // namespace

json to_json(const TrialSpec& trial) {
  json document{{kModel, section_to_json(trial.model, model_members())},
                {kAttention, to_json(trial.attention)},
                {kTrain, section_to_json(trial.train, train_members())},
                {kSeed, trial.seed}};
  if (!trial.task.id.empty()) document[kTask] = to_json(trial.task);
  return document;
}

ModelSpec model_from_json(const json& section) {
  check(section, model_parameters(), kModel);
  return section_from_json(section, model_members());
}

TrainSpec train_from_json(const json& section) {
  check(section, train_parameters(), kTrain);
  return section_from_json(section, train_members());
}

TrialSpec trial_from_json(const json& document) {
  return {.task = document.contains(kTask) ? plugin_from_json(document.at(kTask)) : PluginSpec(),
          .model = model_from_json(document.at(kModel)),
          .attention = plugins_from_json(document.at(kAttention)),
          .train = train_from_json(document.at(kTrain)),
          .seed = document.at(kSeed)};
}

std::vector<HostSection> host_sections(const TrialSpec& trial) {
  return {{kModel, section_to_json(trial.model, model_members()), model_parameters()},
          {kTrain, section_to_json(trial.train, train_members()), train_parameters()}};
}

}  // namespace ablate
