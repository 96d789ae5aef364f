#include "core/registry/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/rate_text.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr const char* kPlugin = "plugin";

/// True if a value of a section names plugins. Only plugins are objects or lists of objects.
bool names_plugins(const json& value) {
  return value.is_object() || (value.is_array() && !value.empty() &&
                               std::all_of(value.begin(), value.end(), [](const json& one) { return one.is_object(); }));
}

thread_local Reads* current_reads = nullptr;

std::string owner_of(const PluginInfo& plugin) { return fmt::format("{} {}", to_text(plugin.kind), plugin.id); }

/// Returns the name of the function that reads a parameter of this type.
const char* accessor_of(ParameterType type) {
  switch (type) {
    case ParameterType::kBoolean:
      return "boolean()";
    case ParameterType::kInteger:
      return "integer()";
    case ParameterType::kReal:
      return "real()";
    case ParameterType::kText:
      return "text()";
    case ParameterType::kRate:
      return "rate()";
    case ParameterType::kRates:
      return "rates()";
    case ParameterType::kFile:
      return "file()";
    case ParameterType::kPlugin:
    case ParameterType::kPlugins:
      break;
  }
  return "the context's parts";
}

/// Converts a value that check_value has accepted.
Rate to_rate(const nlohmann::json& value) { return parse_rate(value.get<std::string>()).value(); }

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

Reads::Reads() : outer_(current_reads) { current_reads = this; }
Reads::~Reads() { current_reads = outer_; }

void Reads::add(const std::string& owner, const std::string& parameter) {
  const std::lock_guard lock(mutex_);
  read_.emplace(owner, parameter);
}

bool Reads::contains(const PluginInfo& plugin, const std::string& parameter) const {
  const std::lock_guard lock(mutex_);
  return read_.contains({owner_of(plugin), parameter});
}

JsonValues::JsonValues(PluginSpec spec, std::span<const ParameterInfo> declared, std::string owner)
    : spec_(std::move(spec)), declared_(declared.begin(), declared.end()), owner_(std::move(owner)), reads_(current_reads) {}

JsonValues::JsonValues(PluginSpec spec, const PluginInfo& plugin)
    : JsonValues(std::move(spec), plugin.parameters, owner_of(plugin)) {}

void JsonValues::check_read(const char* name, std::initializer_list<ParameterType> types, const char* accessor) const {
  const auto found = std::find_if(declared_.begin(), declared_.end(), [&](const auto& one) { return one.name == name; });
  if (found == declared_.end()) {
    std::vector<std::string> known;
    for (const auto& one : declared_) known.push_back(one.name);
    throw std::logic_error(fmt::format("{} reads a parameter that its schema lacks: {}{}", owner_, name, hint(name, known)));
  }
  if (std::find(types.begin(), types.end(), found->type) == types.end())
    throw std::logic_error(
        fmt::format("{} reads its parameter {} by {}, but declares it as {}: read it by {}, or declare another type", owner_,
                    name, accessor, to_text(found->type), accessor_of(found->type)));
  if (reads_ != nullptr) reads_->add(owner_, name);
  const auto check = [&](const json& value) {
    if (const auto checked = check_value(*found, value); !checked.ok())
      throw Error(fmt::format("{} of {} is {}, expected {}", name, owner_, value.dump(), checked.expected));
  };
  if (spec_.values.contains(name))
    check(spec_.values.at(name));
  else if (const auto part = spec_.parts.find(name); part == spec_.parts.end())
    throw std::logic_error(fmt::format("the section of {} has no value of {}", owner_, name));
  else if (found->type != (part->second.is_list ? ParameterType::kPlugins : ParameterType::kPlugin))
    check(to_json(part->second));  // throws
}

const json& JsonValues::get(const char* name, std::initializer_list<ParameterType> types, const char* accessor) const {
  check_read(name, types, accessor);
  return spec_.values.at(name);
}

const std::vector<PluginSpec>& JsonValues::plugins_of(const char* name) const {
  check_read(name, {ParameterType::kPlugin, ParameterType::kPlugins}, "the context's parts or count()");
  return spec_.parts.at(name).all;
}

bool JsonValues::boolean(const char* name) const { return get(name, {ParameterType::kBoolean}, "boolean()").get<bool>(); }
std::int64_t JsonValues::integer(const char* name) const {
  return get(name, {ParameterType::kInteger}, "integer()").get<std::int64_t>();
}
double JsonValues::real(const char* name) const { return get(name, {ParameterType::kReal}, "real()").get<double>(); }
std::string JsonValues::text(const char* name) const { return get(name, {ParameterType::kText}, "text()").get<std::string>(); }
Rate JsonValues::rate(const char* name) const { return to_rate(get(name, {ParameterType::kRate}, "rate()")); }
std::string JsonValues::file(const char* name) const { return get(name, {ParameterType::kFile}, "file()").get<std::string>(); }

std::vector<Rate> JsonValues::rates(const char* name) const {
  std::vector<Rate> result;
  for (const auto& item : get(name, {ParameterType::kRates}, "rates()")) result.push_back(to_rate(item));
  return result;
}

std::int64_t JsonValues::count(const char* plugins) const { return std::ssize(plugins_of(plugins)); }

const PluginSpec& JsonValues::part(const char* plugins, std::size_t index) const {
  const auto& all = plugins_of(plugins);
  if (index >= all.size())
    throw std::logic_error(fmt::format("{} reads plugin {} (counted from 0) of its parameter {}, which has {} plugins", owner_,
                                       index, plugins, all.size()));
  return all[index];
}

}  // namespace ablate
