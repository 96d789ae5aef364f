#include "tools/ablate/check/named_plugins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/host/study/document.h"
#include "core/records/data_settings.h"
#include "core/registry/conditions.h"
#include "core/util/error.h"
#include "core/util/nearest.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Returns the library at path `name`, or the libraries of any kind with id `name`. Adds `name` to `unknown` if there is none.
std::vector<FoundLibrary> named(const std::string& name, const std::vector<FoundLibrary>& found, Executors& executors,
                                std::vector<std::string>& unknown) {
  if (is_path(name)) return {library_at(std::filesystem::absolute(name).lexically_normal(), executors)};
  std::vector<FoundLibrary> all;
  std::vector<std::string> known;
  for (const auto& library : found) {
    if (library.refusal.empty()) known.push_back(library.info.id);
    if (library.refusal.empty() && library.info.id == name) all.push_back(library);
  }
  if (!all.empty()) return all;
  for (const auto& library : found)  // a refused library has no readable id; by convention the file's name is its id
    if (library.path.stem() == name)
      throw Error(fmt::format("{} is refused: {}", library.path.string(), library.refusal), ExitCode::kPlugin);
  unknown.push_back(name + hint(name, known));
  return {};
}

/// Parses a value as JSON, else as `ablate run --set` does. A text needs no quotes, whatever its characters.
json value_of(const std::string& text, const ParameterInfo& parameter) {
  auto value = json::parse(text, nullptr, false);
  if (Diagnostics none; value.is_discarded())
    if (const auto node = parse_value(text, {}, none)) value = node->value;
  return value.is_discarded() || (parameter.type == ParameterType::kText && !value.is_string()) ? json(text) : value;
}

/// Returns how to write a plugin with this id: ", as --set 'compression={"plugin":"rbf"}'"; "" if the parameter is no plugin.
std::string example(const ParameterInfo& parameter, const std::string& text) {
  if (!parameter.plugin_kind()) return "";
  const bool is_id = !text.empty() && text.find_first_of("[]{}\",= ") == std::string::npos;
  json section = plugin_section(is_id ? text : "ID");
  if (parameter.type == ParameterType::kPlugins) section = json::array({section});
  return fmt::format(", as --set '{}={}'", parameter.name, section.dump());
}

/// Throws Error for a value of the plugin, or of a part that a value names, if the value has no effect beside others.
void refuse_idle(const PluginInfo& plugin, const json& given, const std::string& path,
                 const std::map<std::string, FoundLibrary>& parts) {
  auto section = json::object();
  for (const auto& parameter : plugin.parameters) section[parameter.name] = parameter.default_value;
  section.update(given);
  for (const auto& parameter : plugin.parameters) {
    const auto value = given.find(parameter.name);
    if (value == given.end()) continue;
    const auto at = path + parameter.name;
    if (const auto unmet = unmet_condition(plugin.parameters, parameter, section); !unmet.empty())
      throw Error(fmt::format("--set {}={} has no effect: {} reads it only if {}; set {}{}, or leave out {}", at,
                              value->is_string() ? value->get<std::string>() : value->dump(), plugin.id, unmet, path,
                              condition_of(unmet).name, at));
    if (!parameter.plugin_kind()) continue;
    const auto refuse_part = [&](const json& one, const std::string& below) {
      if (const auto part = parts.find(plugin_id_of(one)); part != parts.end())
        refuse_idle(part->second.info, one, below + ".", parts);
    };
    if (!value->is_array()) refuse_part(*value, at);
    for (std::size_t i = 0; value->is_array() && i < value->size(); ++i) refuse_part((*value)[i], fmt::format("{}.{}", at, i));
  }
}

}  // namespace

json parameters_of(const PluginInfo& plugin, const std::vector<std::string>& pairs,
                   const std::map<std::string, FoundLibrary>& parts) {
  json result = json::object();
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos) throw Error("--set " + pair + ": expected NAME=VALUE");
    const auto name = pair.substr(0, equals), text = pair.substr(equals + 1);
    const auto* parameter = plugin.find(name);
    if (parameter == nullptr) {
      std::vector<std::string> known;
      for (const auto& each : plugin.parameters) known.push_back(each.name);
      throw Error(fmt::format("--set {}: {} has no parameter {}{}", pair, plugin.id, name, hint(name, known)));
    }
    const auto value = value_of(text, *parameter);
    const auto checked = check_value(*parameter, value);
    if (!checked.ok()) throw Error(fmt::format("--set {}: expected {}{}", pair, checked.expected, example(*parameter, text)));
    result[name] = checked.value;
  }
  refuse_idle(plugin, result, "", parts);
  return result;
}

std::vector<FoundLibrary> choose(const std::vector<std::string>& what, const std::vector<FoundLibrary>& found,
                                 const Options& options, Executors& executors) {
  auto all = what.empty() ? found : std::vector<FoundLibrary>();
  if (what.empty() && found.empty()) throw Error("no plugin was found; `ablate plugins` lists the searched folders");
  std::vector<std::string> unknown;
  for (const auto& name : what)
    for (auto& library : named(name, found, executors, unknown))
      if (std::none_of(all.begin(), all.end(), [&](const FoundLibrary& one) { return one.path == library.path; }))
        all.push_back(std::move(library));
  if (!unknown.empty())
    throw Error(fmt::format("no plugin {}; {}", fmt::join(unknown, ", no plugin "),
                            where_plugins_are(options, unknown.size() == 1 ? what.front() : "")));
  return all;
}

std::map<std::string, FoundLibrary> parts_among(const std::vector<FoundLibrary>& found) {
  std::map<std::string, FoundLibrary> parts;
  for (const auto& library : found)
    if (library.refusal.empty() && library.info.kind != Kind::kTask) parts.emplace(library.info.id, library);
  return parts;
}

}  // namespace ablate
