#include "core/trial/conformance/engine/candidate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/registry/conditions.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using nlohmann::json;

bool is_part(const ParameterInfo& parameter) {
  return parameter.type == ParameterType::kPlugin || parameter.type == ParameterType::kPlugins;
}

bool needs_parts(const Descriptor& plugin) {
  const auto parameters = describe(plugin).parameters;
  return std::any_of(parameters.begin(), parameters.end(), is_part);
}

/// Returns the values to try for a parameter that names plugins.
std::vector<json> values_for(const Descriptor& plugin, const ParameterInfo& parameter,
                             const std::vector<const Descriptor*>& parts) {
  const auto kind = *parameter.plugin_kind();
  const bool is_attention = kind == Kind::kAttention;
  std::vector<json> found;
  for (const auto* part : parts)
    if (part->kind == kind && !needs_parts(*part)) found.push_back({{"plugin", part->id}});
  if (found.empty())
    throw Error(fmt::format("the parameter {} of {} is a plugin, and no {} plugin was found to check it with", parameter.name,
                            plugin.id, to_text(kind)));
  if (is_attention) found.resize(std::min<std::size_t>(found.size(), parameter.type == ParameterType::kPlugins ? 2 : 1));
  if (parameter.type == ParameterType::kPlugin) return found;
  if (is_attention) return {json(found)};
  for (auto& each : found) each = json::array({each});
  return found;
}

void gather_parts(const json& value, std::vector<json>& parts) {
  if (!value.is_structured()) return;
  for (const auto& inner : value) {
    if (inner.is_object() && inner.contains("plugin")) parts.push_back(inner);
    gather_parts(inner, parts);
  }
}

}  // namespace

std::string Candidate::name() const {
  std::vector<std::string> names{section.at("plugin")};
  for (const auto& part : part_sections()) names.push_back(part.at("plugin"));
  return fmt::format("{}", fmt::join(names, " x "));
}

std::vector<json> Candidate::part_sections() const {
  std::vector<json> parts;
  gather_parts(section, parts);
  return parts;
}

std::vector<std::string> Candidate::parts() const {
  std::vector<std::string> each;
  for (const auto& part : part_sections()) {
    const auto id = part.at("plugin").get<std::string>();
    if (std::find(each.begin(), each.end(), id) == each.end()) each.push_back(id);
  }
  return each;
}

Candidate Candidate::with(const std::string& parameter, const json& value) const {
  auto changed = reading(describe(descriptor()), parameter, section);
  changed[parameter] = value;
  return beside(descriptor(), changed);
}

Candidate Candidate::beside(const Descriptor& plugin, const json& parameters) const {
  auto other = make_candidate(plugin, parameters, find);
  other.device = device;
  return other;
}

std::int64_t Candidate::length(std::int64_t at_least) const {
  const auto multiple = std::max<std::int64_t>(promises.length_multiple, 1);
  return (at_least + multiple - 1) / multiple * multiple;
}

std::vector<json> values_within(const ParameterInfo& parameter, const Bounds& integers, const Bounds& reals) {
  const auto least = [&](const Bounds& bounds) { return std::max(parameter.minimum, bounds.least); };
  const auto most = [&](const Bounds& bounds) { return std::min(parameter.maximum, std::max(parameter.minimum, bounds.most)); };
  switch (parameter.type) {
    case ParameterType::kBoolean:
      return {false, true};
    case ParameterType::kInteger:
      return {static_cast<std::int64_t>(least(integers)), static_cast<std::int64_t>(most(integers))};
    case ParameterType::kReal:
      return {least(reals), most(reals)};
    case ParameterType::kText:
      return {parameter.choices.begin(), parameter.choices.end()};
    default:
      return {};
  }
}

FindPlugin find_among(std::vector<const Descriptor*> plugins) {
  return [plugins = std::move(plugins)](Kind kind, const std::string& id) -> const Descriptor& {
    for (const auto* plugin : plugins)
      if (plugin->kind == kind && plugin->id == id) return *plugin;
    throw Error(fmt::format("there is no {} {}", to_text(kind), id), ExitCode::kPlugin);
  };
}

Candidate make_candidate(const Descriptor& plugin, const json& parameters, const FindPlugin& find) {
  auto section = complete_section(plugin, parameters, find);
  const auto promises = promises_of(plugin.kind, plugin_from_json(section), find);
  auto exemptions = std::make_shared<Exemptions>(describe(plugin), section);
  Candidate made{plugin.kind, std::move(section), find, promises, exemptions};
  for (const auto& part : made.part_sections()) try {
      exemptions->add_part(describe(find(Kind::kAttention, part.at("plugin").get<std::string>())), part);
    } catch (const Error&) {  // a compression, which has other checks
    }
  return made;
}

std::vector<Candidate> candidates(const Descriptor& plugin, const json& parameters,
                                  const std::vector<const Descriptor*>& parts) {
  auto plugins = parts;
  plugins.insert(plugins.begin(), &plugin);
  const auto find = find_among(plugins);
  std::vector<json> sections = {parameters};
  for (const auto& parameter : describe(plugin).parameters) {
    if (!is_part(parameter) || parameters.contains(parameter.name)) continue;
    std::vector<json> extended;
    for (const auto& value : values_for(plugin, parameter, parts))
      for (auto section : sections) {
        section[parameter.name] = value;
        extended.push_back(std::move(section));
      }
    sections = std::move(extended);
  }
  std::vector<Candidate> all;
  for (const auto& section : sections) all.push_back(make_candidate(plugin, section, find));
  return all;
}

}  // namespace ablate
