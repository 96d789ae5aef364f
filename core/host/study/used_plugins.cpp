#include "core/host/study/used_plugins.h"

#include <fmt/format.h>

#include "core/util/error.h"

namespace ablate {
namespace {

void visit(const std::string& path, Kind kind, const PluginGroup& plugins, const Catalog& catalog,
           std::vector<PluginUse>& uses);

void visit(const std::string& path, Kind kind, const PluginSpec& plugin, const Catalog& catalog, std::vector<PluginUse>& uses) {
  const auto* info = catalog.find(kind, plugin.id);
  if (info == nullptr) throw Error(fmt::format("{} {} was not found", to_text(kind), plugin.id), ExitCode::kPlugin);
  uses.push_back({path, info, &plugin});
  for (const auto& parameter : info->parameters)
    if (const auto inner = parameter.plugin_kind())
      visit(path + "." + parameter.name, *inner, plugin.parts.at(parameter.name), catalog, uses);
}

void visit(const std::string& path, Kind kind, const PluginGroup& plugins, const Catalog& catalog,
           std::vector<PluginUse>& uses) {
  if (!plugins.is_list) return visit(path, kind, plugins.all.front(), catalog, uses);
  for (std::size_t i = 0; i < plugins.all.size(); ++i)
    visit(fmt::format("{}.{}", path, i), kind, plugins.all[i], catalog, uses);
}

}  // namespace

std::vector<PluginUse> used_plugins(const TrialSpec& trial, const Catalog& catalog) {
  std::vector<PluginUse> uses;
  visit(to_text(Kind::kTask), Kind::kTask, trial.task, catalog, uses);
  visit(to_text(Kind::kAttention), Kind::kAttention, trial.attention, catalog, uses);
  return uses;
}

std::vector<PluginUse> used_plugins(Kind kind, const PluginSpec& plugin, const Catalog& catalog) {
  std::vector<PluginUse> uses;
  visit(to_text(kind), kind, plugin, catalog, uses);
  return uses;
}

std::string named_parameter(const PluginInfo& info, std::string why) {
  if (why.starts_with(info.id + ": ")) why.erase(0, info.id.size() + 2);
  for (const auto& parameter : info.parameters)
    if (why.starts_with(parameter.name + " = ")) return parameter.name;
  return "";
}

}  // namespace ablate
