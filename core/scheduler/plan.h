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
  std::string data_digest;  ///< Task::digest, as it was when the study was planned
};

/// How long a task's calls before any trial may take. A task that hangs must end with a reason, too.
struct TaskLimits {
  double describe_s = 60;   ///< factory and info(), which promises milliseconds
  double prepare_s = 3600;  ///< with load(), which may download and convert; a greater [experiment] timeout allows more
};

/// The plugins that a resolved trial uses, by section. Throws Error (ExitCode::kPlugin) for one that the catalog lacks.
std::map<std::string, const PluginInfo*> used_plugins(const nlohmann::json& resolved, const Catalog& catalog);

/// Checks what only the tasks can tell: data that is missing, rates that leave no slot of their sequence length. Reads file
/// headers only. Throws ConfigError or Error with everything that is wrong.
void check_tasks(const Study& study, const Catalog& catalog, WorkerClient& worker, const TaskLimits& limits = {});

/// Prepares every data set of the study (generating and caching it where needed) and names each trial. Throws Error.
std::vector<PlannedTrial> plan(const Study& study, const Catalog& catalog, WorkerClient& worker, const TaskLimits& limits = {});

}  // namespace ablate
