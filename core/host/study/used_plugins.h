// The plugins of a trial, wherever they stand in it.
#pragma once

#include <string>
#include <vector>

#include "core/registry/catalog.h"
#include "core/shared/trial_spec.h"

namespace ablate {

/// A plugin that a trial uses. Points into the catalog and the trial.
struct PluginUse {
  std::string path;  ///< of its section: "task", "attention", "attention.parts.0.compression"
  const PluginInfo* info;
  const PluginSpec* given;  ///< with what it is given
};

/// All of them: the task, the attention (or one for each entry of a list), and those that are parameters of others, to any
/// depth, each after the one that it is a parameter of. Throws Error (ExitCode::kPlugin) for one that the catalog lacks.
std::vector<PluginUse> used_plugins(const TrialSpec& trial, const Catalog& catalog);
/// The same of one plugin alone, whose path is its kind.
std::vector<PluginUse> used_plugins(Kind kind, const PluginSpec& plugin, const Catalog& catalog);

/// The parameter that a plugin's message names first: "heads = 3 does not divide ...", its id and a colon before it or not; ""
/// for none.
std::string named_parameter(const PluginInfo& info, std::string why);

}  // namespace ablate
