// The plugins of a trial, at any depth.
#pragma once

#include <string>
#include <vector>

#include "core/registry/catalog.h"
#include "core/shared/trial_spec.h"

namespace ablate {

/// A plugin that a trial uses. Points into the catalog and the trial.
struct PluginUse {
  std::string path;  ///< path of its section: "task", "attention", "attention.parts.0.compression"
  const PluginInfo* info;
  const PluginSpec* given;  ///< the plugin with its parameters
};

/// Returns the task, the attention (or each attention of a list), and all plugins that are parameters of others. Each comes
/// after its owner. Throws Error (ExitCode::kPlugin) for a plugin that the catalog lacks.
std::vector<PluginUse> used_plugins(const TrialSpec& trial, const Catalog& catalog);
/// Returns the plugin, with the kind as its path, and then all plugins that are its parameters. Throws the same errors.
std::vector<PluginUse> used_plugins(Kind kind, const PluginSpec& plugin, const Catalog& catalog);

/// Returns the parameter that a plugin's message names first: "heads = 3 does not divide ...", possibly after the plugin's
/// id and a colon. Returns "" if no parameter is named first.
std::string named_parameter(const PluginInfo& info, std::string why);

}  // namespace ablate
