#include "core/shared/trial_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/records/setting_paths.h"
#include "core/shared/sections.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using nlohmann::json;

using section::kAttention, section::kModel, section::kPlugin, section::kSeed, section::kTask, section::kTrain;

/// @param section its name
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

/// Whether a value of a section names plugins: no value of another type is an object, or a list of them.
bool names_plugins(const json& value) {
  return value.is_object() || (value.is_array() && !value.empty() &&
                               std::all_of(value.begin(), value.end(), [](const json& one) { return one.is_object(); }));
}

}  // namespace

json to_json(const PluginSpec& plugin) {
  auto section = plugin.values;
  section[kPlugin] = plugin.id;
  for (const auto& [parameter, plugins] : plugin.parts) section[parameter] = to_json(plugins);
  return section;
}

json to_json(const PluginGroup& plugins) {
  if (!plugins.is_list && !plugins.all.empty()) return to_json(plugins.all.front());
  auto list = json::array();
  for (const auto& plugin : plugins.all) list.push_back(to_json(plugin));
  return list;
}

json to_json(const TrialSpec& trial) {
  json document{{kModel, section_to_json(trial.model, model_members())},
                {kAttention, to_json(trial.attention)},
                {kTrain, section_to_json(trial.train, train_members())},
                {kSeed, trial.seed}};
  if (!trial.task.id.empty()) document[kTask] = to_json(trial.task);
  return document;
}

PluginSpec plugin_from_json(const json& section) {
  PluginSpec plugin{.id = section.at(kPlugin)};
  for (const auto& [name, value] : section.items())
    if (names_plugins(value))
      plugin.parts[name] = plugins_from_json(value);
    else if (name != kPlugin)
      plugin.values[name] = value;
  return plugin;
}

PluginGroup plugins_from_json(const json& value) {
  if (!value.is_array()) return {.all = {plugin_from_json(value)}};
  PluginGroup plugins{.all = {}, .is_list = true};
  for (const auto& section : value) plugins.all.push_back(plugin_from_json(section));
  return plugins;
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
