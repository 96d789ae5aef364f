#include "core/host/scheduler/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/host/study/used_plugins.h"
#include "core/records/setting_paths.h"
#include "core/shared/sections.h"
#include "core/shared/versions.h"
#include "core/util/plain_json.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr const char* kDefault = "the default";  ///< text for a value that is not among the settings

/// Adds values that differ from the defaults. Skips plugins among the values, which have their own sections.
void add_settings(const std::string& path, const json& values, std::span<const ParameterInfo> parameters,
                  const std::map<std::string, std::string>& files, Identity& into) {
  for (const auto& parameter : parameters) {
    const auto value = values.find(parameter.name);
    if (value == values.end() || parameter.plugin_kind() || *value == parameter.default_value) continue;
    const auto at = setting::in(path, parameter.name);
    if (const auto file = files.find(at); file != files.end())
      into.settings[at] = "SHA-256 " + file->second;
    else if (at == setting::kDevice)
      into.settings[at] = value->get<std::string>().substr(0, value->get<std::string>().find(':'));
    else
      into.settings[at] = *value;
  }
}

/// Returns a text parameter of [train] from a key's settings, or the parameter's default if the settings lack it.
std::string of_train(const json& settings, const std::string& name) {
  const auto said = settings.find(setting::in(section::kTrain, name));
  if (said != settings.end()) return said->get<std::string>();
  const auto all = train_parameters();
  return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; })->default_value;
}

std::string shown(const json& object, const std::string& name) {
  return object.contains(name) ? plain_json(object.at(name)) : kDefault;
}

std::string version(const json& basis, const std::string& name) {
  return basis.contains(name) ? plain_json(basis.at(name)) : "none";
}

std::set<std::string> names_of(const json& a, const json& b) {
  std::set<std::string> names;
  for (const auto* object : {&a, &b})
    for (const auto& [name, _] : object->items()) names.insert(name);
  return names;
}

}  // namespace

Identity identity_of(const TrialSpec& trial, const std::map<std::string, std::string>& files, const Catalog& catalog,
                     const std::string& data_digest, const std::string& torch_version) {
  Identity identity{
      {{setting::kSeed, trial.seed}},
      {{"plugins", json::object()}, {"data", data_digest}, {"runtime", kRuntimeVersion}, {"torch", torch_version}}};
  for (const auto& [path, info, given] : used_plugins(trial, catalog)) {
    identity.settings[path + ".plugin"] = info->id;
    identity.basis["plugins"][path] = info->code_identity();
    add_settings(path, given->values, info->parameters, files, identity);
  }
  for (const auto& [name, values, parameters] : host_sections(trial)) add_settings(name, values, parameters, files, identity);
  set_kernels(identity);
  return identity;
}

void set_kernels(Identity& identity) {
  identity.basis.erase("kernels");
  TrainSpec train;
  train.kernels = of_train(identity.settings, "kernels"), train.device = of_train(identity.settings, "device");
  if (train.fused() && train.device == "cpu") identity.basis["kernels"] = kKernelsVersion;
}

std::vector<std::string> changed_defaults(const Identity& now, const Identity& before) {
  std::vector<std::string> paths;
  for (const auto& [path, value] : before.values.items()) {
    const auto other = now.values.find(path);
    if (other != now.values.end() && *other != value && !now.settings.contains(path) && !before.settings.contains(path))
      paths.push_back(path);
  }
  return paths;
}

std::vector<std::string> differences(const Identity& now, const Identity& before) {
  std::vector<std::string> found;
  for (const auto& path : names_of(now.settings, before.settings))
    if (shown(now.settings, path) != shown(before.settings, path))
      found.push_back(fmt::format("{} ({}, was {})", path, shown(now.settings, path), shown(before.settings, path)));
  for (const auto& path : changed_defaults(now, before))
    found.push_back(fmt::format("{} ({}, was {})", path, shown(now.values, path), shown(before.values, path)));
  const auto of_basis = basis_differences(now, before);
  found.insert(found.end(), of_basis.begin(), of_basis.end());
  return found;
}

std::vector<std::string> basis_differences(const Identity& now, const Identity& before) {
  std::vector<std::string> found;
  const auto &plugins = now.basis.at("plugins"), &others = before.basis.at("plugins");
  for (const auto& [path, code] : plugins.items()) {
    const auto plugin = path + ".plugin";
    // differences() lists a different plugin among the settings.
    if (others.contains(path) && others.at(path) != code && shown(now.settings, plugin) == shown(before.settings, plugin))
      found.push_back(fmt::format("the code of {} ({})", now.settings.at(plugin).get<std::string>(), path));
  }
  if (now.basis.at("data") != before.basis.at("data")) found.emplace_back("the data");
  for (const auto& [name, words] :
       {std::pair{"runtime", "the runtime's version"}, {"kernels", "the kernels' version"}, {"torch", "torch"}})
    if (now.basis.value(name, json()) != before.basis.value(name, json()))
      found.push_back(fmt::format("{} ({}, was {})", words, version(now.basis, name), version(before.basis, name)));
  return found;
}

}  // namespace ablate
