#include "core/host/scheduler/identity.h"

#include <fmt/format.h>

#include <set>

#include "core/shared/sections.h"
#include "core/util/plain_json.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Goes through a trial's sections, and through the plugins among their values.
class Reading {
 public:
  Reading(const Catalog& catalog, const std::map<std::string, std::string>& files, Identity& into)
      : catalog_(catalog), files_(files), into_(into) {}

  void read(const json& resolved) {
    for (const auto& [name, value] : resolved.items())
      if (name == "model" || name == "train")
        section(name, value, name == "model" ? model_parameters() : train_parameters());
      else if (name == "task" || name == "attention" || name == "compression")
        plugins(name, value, name == "task" ? Kind::kTask : name == "attention" ? Kind::kAttention : Kind::kCompression);
      else
        into_.settings[name] = value;  // the seed
  }

 private:
  /// One section, or a list of them.
  void plugins(const std::string& path, const json& value, Kind kind) {
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) plugins(path + "." + std::to_string(i), value[i], kind);
      return;
    }
    const std::string id = value.at("plugin");
    const auto* info = catalog_.find(kind, id);
    if (info == nullptr) throw Error(fmt::format("{} {} was not found", to_text(kind), id), ExitCode::kPlugin);
    into_.settings[path + ".plugin"] = id;
    into_.basis["plugins"][path] = info->code_identity();
    section(path, value, info->parameters);
  }

  void section(const std::string& path, const json& values, std::span<const ParameterInfo> parameters) {
    for (const auto& parameter : parameters)
      if (const auto value = values.find(parameter.name); value != values.end())
        one(path + "." + parameter.name, *value, parameter);
  }

  void one(const std::string& path, const json& value, const ParameterInfo& parameter) {
    if (parameter.type == ParameterType::kPlugin || parameter.type == ParameterType::kPlugins)
      return plugins(path, value,
                     parameter.choices.front() == to_text(Kind::kAttention) ? Kind::kAttention : Kind::kCompression);
    if (value == parameter.default_value) return;
    const auto file = files_.find(path);
    if (file != files_.end())
      into_.settings[path] = "SHA-256 " + file->second;
    else if (path == "train.device")
      into_.settings[path] = value.get<std::string>().substr(0, value.get<std::string>().find(':'));
    else
      into_.settings[path] = value;
  }

  const Catalog& catalog_;
  const std::map<std::string, std::string>& files_;
  Identity& into_;
};

std::string shown(const json& object, const std::string& name) {
  return object.contains(name) ? plain_json(object.at(name)) : "the default";
}

std::set<std::string> names_of(const json& a, const json& b) {
  std::set<std::string> names;
  for (const auto* object : {&a, &b})
    for (const auto& [name, _] : object->items()) names.insert(name);
  return names;
}

}  // namespace

std::string Identity::key() const { return sha256(json{{"settings", settings}, {"basis", basis}}.dump()); }

Identity identity_of(const json& resolved, const std::map<std::string, std::string>& files, const Catalog& catalog,
                     const std::string& data_digest, const std::string& torch_version) {
  Identity identity{
      json::object(),
      {{"plugins", json::object()}, {"data", data_digest}, {"runtime", kRuntimeVersion}, {"torch", torch_version}}};
  Reading(catalog, files, identity).read(resolved);
  return identity;
}

std::vector<std::string> differences(const Identity& now, const Identity& before) {
  std::vector<std::string> found;
  for (const auto& path : names_of(now.settings, before.settings))
    if (shown(now.settings, path) != shown(before.settings, path))
      found.push_back(fmt::format("{} ({}, was {})", path, shown(now.settings, path), shown(before.settings, path)));
  const auto &plugins = now.basis.at("plugins"), &others = before.basis.at("plugins");
  for (const auto& [path, code] : plugins.items()) {
    const auto chosen = path + ".plugin";
    // Another plugin has been told above.
    if (others.contains(path) && others.at(path) != code && shown(now.settings, chosen) == shown(before.settings, chosen))
      found.push_back(fmt::format("the code of {} ({})", now.settings.at(chosen).get<std::string>(), path));
  }
  if (now.basis.at("data") != before.basis.at("data")) found.emplace_back("the data");
  for (const auto* name : {"runtime", "torch"})
    if (now.basis.at(name) != before.basis.at(name))
      found.push_back(fmt::format("{} ({}, was {})", std::string(name) == "runtime" ? "the runtime's version" : name,
                                  shown(now.basis, name), shown(before.basis, name)));
  return found;
}

}  // namespace ablate
