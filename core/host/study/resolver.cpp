#include "core/host/study/resolver.h"

#include <fmt/format.h>

#include "core/host/study/cross_checks.h"

namespace ablate {
namespace {

using nlohmann::json;

/// What a person who wrote this value may have meant.
std::string remedy(const ParameterInfo& parameter, const Point::Setting& setting) {
  const auto& value = setting.assignment->value;
  if (!setting.by_grid && value.is_array() && parameter.type != ParameterType::kRates)
    return "; several values to compare belong in [grid]";
  if (setting.by_grid && !value.is_array() && parameter.type == ParameterType::kRates)
    return "; as an axis, write a list of such lists: [[\"1/2\"], [\"1/4\", \"1/8\"]]";
  return "";
}

}  // namespace

Resolver::Resolver(const Draft& draft, const Schema& schema, Diagnostics& diagnostics)
    : draft_(draft), schema_(schema), diagnostics_(diagnostics) {}

std::optional<Trial> Resolver::resolve(const Point& point) {
  ok_ = true;
  Trial trial;
  for (const auto* section : {"task", "attention"}) {
    check_plugin(section, point);
    if (const auto* plugin = plugin_of(schema_, point, section)) add_section(section, plugin, point, trial);
  }
  for (const auto* section : {"model", "train"}) add_section(section, nullptr, point, trial);
  add_compression(point, trial);
  trial.resolved["seed"] = point.settings.at("seed").assignment->value;
  if (!cross_check(trial, diagnostics_)) ok_ = false;
  for (const auto* section : {"attention", "compression"})
    if (const auto* plugin = plugin_of(schema_, point, section); plugin != nullptr && trial.resolved.contains(section))
      if (!check_promises(trial, *plugin, diagnostics_)) ok_ = false;
  return ok_ ? std::optional(std::move(trial)) : std::nullopt;
}

void Resolver::check_plugin(const std::string& section, const Point& point) {
  const auto path = section + ".plugin";
  const auto found = point.settings.find(path);
  if (found == point.settings.end()) {
    ok_ = false;
    if (draft_.broken.contains(path)) return;  // already reported
    const auto header = draft_.sections.find(section);
    return report(
        header == draft_.sections.end() ? draft_.start : header->second,
        fmt::format("no {} is chosen; write [{}] and in it plugin = \"...\"; ablate plugins lists them", section, section));
  }
  const auto& [_, value, key, where] = *found->second.assignment;
  if (!value.is_string())
    report(where, fmt::format("{} = {}: expected the name of a plugin, a text", path, show(value)));
  else if (const auto why = schema_.refuse_plugin(section, value.get<std::string>()); !why.empty())
    report(where, why, schema_.refused_library(value.get<std::string>()) != nullptr ? ExitCode::kPlugin : ExitCode::kUsage);
}

void Resolver::add_compression(const Point& point, Trial& trial) {
  if (!schema_.takes_compression()) return;  // a [compression] without any use has been reported
  const auto* attention = plugin_of(schema_, point, "attention");
  if (attention != nullptr && !attention->capabilities.takes_compression) {
    for (auto s = point.settings.lower_bound("compression."); s != point.settings.end() && s->first.starts_with("compression.");
         ++s)
      if (s->second.by_grid)
        report(s->second.assignment->key,
               fmt::format(
                   "{} takes no compression; put {} in a row with the attentions that take one, or exclude the combination",
                   attention->id, s->first));
    return;
  }
  if (point.settings.contains("compression.plugin")) {
    check_plugin("compression", point);
  } else if (attention != nullptr && !schema_.refuse_plugin("compression", kDefaultCompression).empty()) {
    return report(point.settings.at("attention.plugin").assignment->where,
                  fmt::format("{} takes a compression, and the default one, {}, is not there; set compression.plugin",
                              attention->id, kDefaultCompression));
  }
  if (const auto* plugin = plugin_of(schema_, point, "compression")) add_section("compression", plugin, point, trial);
}

void Resolver::add_section(const std::string& section, const PluginInfo* plugin, const Point& point, Trial& trial) {
  auto& object = trial.resolved[section] = json::object();
  if (plugin != nullptr) object["plugin"] = plugin->id;
  for (const auto& parameter : Schema::parameters(section, plugin)) {
    object[parameter.name] = parameter.default_value;
    const bool is_rate = parameter.type == ParameterType::kRate || parameter.type == ParameterType::kRates;
    if (is_rate) trial.rate_paths.push_back(section + "." + parameter.name);
  }
  const auto prefix = section + ".";
  for (auto s = point.settings.lower_bound(prefix); s != point.settings.end() && s->first.starts_with(prefix); ++s) {
    const auto& [path, setting] = *s;
    const auto key = path.substr(prefix.size());
    if (plugin != nullptr && key == "plugin")
      trial.where[path] = setting.assignment->where;
    else if (const auto* parameter = Schema::find(section, plugin, key))
      add_value(path, setting, *parameter, trial);
    else if (setting.by_grid)
      refuse_setting(section, plugin, path, setting);
  }
}

void Resolver::add_value(const std::string& path, const Point::Setting& setting, const ParameterInfo& parameter, Trial& trial) {
  const auto& [_, value, key, where] = *setting.assignment;
  const auto [section, name] = split_path(path);
  auto checked = check_value(parameter, value);
  if (!checked.ok()) {
    ok_ = false;
    trial.resolved[section].erase(name);  // a check across parameters must not speak of the default
    if (!value.is_discarded())
      report(where, fmt::format("{} = {}: expected {}{}", path, show(value), checked.expected, remedy(parameter, setting)));
    return;
  }
  trial.resolved[section][name] = std::move(checked.value);
  trial.where[path] = where;
}

void Resolver::refuse_setting(const std::string& section, const PluginInfo* plugin, const std::string& path,
                              const Point::Setting& setting) {
  ok_ = false;
  // Keys that no plugin has are reported once, by Schema::refuse_path.
  const auto key = split_path(path).second;
  if (plugin == nullptr || schema_.find_all(section, key).empty()) return;
  report(setting.assignment->key,
         fmt::format("{} has no parameter {}; put {} in a row with the plugins that have it, or exclude the combination",
                     plugin->id, key, path));
}

void Resolver::report(const Location& where, const std::string& message, ExitCode code) {
  ok_ = false;
  diagnostics_.add(where, message, code);
}

}  // namespace ablate
