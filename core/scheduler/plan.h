// From a study to what has to run: keys, data sets, and what the history already has.
#pragma once

#include <string>
#include <vector>

#include "core/grid/study.h"
#include "core/worker/client.h"
#include "db/store.h"

namespace ablate {

struct PlannedTrial {
  const Trial* trial;
  std::string key;
  std::vector<db::UsedPlugin> plugins;
};

/// The plugins that a resolved trial uses, by section. Throws Error (ExitCode::kPlugin) for one that the catalog lacks.
std::map<std::string, const PluginInfo*> used_plugins(const nlohmann::json& resolved, const Catalog& catalog);

/// Checks what only the tasks can tell: data that is missing, rates that leave no slot of their sequence length. Reads file
/// headers only. Throws ConfigError or Error with everything that is wrong.
void check_tasks(const Study& study, const Catalog& catalog, WorkerClient& worker);

/// Prepares every data set of the study (generating and caching it where needed) and names each trial.
std::vector<PlannedTrial> plan(const Study& study, const Catalog& catalog, WorkerClient& worker);

}  // namespace ablate
