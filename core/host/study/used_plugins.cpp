#include "core/host/study/used_plugins.h"

#include <fmt/format.h>

#include "core/util/error.h"

namespace ablate {
namespace {

using nlohmann::json;

/// @param value a section, or a list of them
void visit(const std::string& path, Kind kind, const json& value, const Catalog& catalog, std::vector<PluginUse>& uses) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) visit(fmt::format("{}.{}", path, i), kind, value[i], catalog, uses);
    return;
  }
  const std::string id = value.at("plugin");
  const auto* info = catalog.find(kind, id);
  if (info == nullptr) throw Error(fmt::format("{} {} was not found", to_text(kind), id), ExitCode::kPlugin);
  uses.push_back({path, info, &value});
  for (const auto& parameter : info->parameters)
    if (const auto inner = parameter.plugin_kind())
      visit(path + "." + parameter.name, *inner, value.at(parameter.name), catalog, uses);
}

}  // namespace

std::vector<PluginUse> used_plugins(const json& resolved, const Catalog& catalog) {
  std::vector<PluginUse> uses;
  for (const auto kind : {Kind::kTask, Kind::kAttention})
    if (const auto found = resolved.find(to_text(kind)); found != resolved.end())
      visit(to_text(kind), kind, *found, catalog, uses);
  return uses;
}

std::vector<PluginUse> used_plugins(Kind kind, const json& section, const Catalog& catalog) {
  std::vector<PluginUse> uses;
  visit(to_text(kind), kind, section, catalog, uses);
  return uses;
}

std::string named_parameter(const PluginInfo& info, std::string why) {
  if (why.starts_with(info.id + ": ")) why.erase(0, info.id.size() + 2);
  for (const auto& parameter : info.parameters)
    if (why.starts_with(parameter.name + " = ")) return parameter.name;
  return "";
}

}  // namespace ablate
