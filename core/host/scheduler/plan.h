// Plans a study's trials: their keys, data sets, and plugins.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/host/client/executors.h"
#include "core/host/scheduler/identity.h"
#include "core/host/scheduler/task_memory.h"
#include "core/host/study/study.h"
#include "core/records/used_plugin.h"

namespace ablate {

struct PlannedTrial {
  const Trial* trial;
  Identity identity;
  std::string key;  ///< computed by Identity::key()
  std::vector<UsedPlugin> plugins;
  std::string data_digest;                                   ///< digest of the task's data at planning; part of the key
  std::int64_t train_size = 0, dev_size = 0, test_size = 0;  ///< in examples; in segments if the task is a stream
  std::int64_t length = 0, train_length = 0;                 ///< length of the longest example, and of the longest in training
  std::int64_t window_length = 0;  ///< length of a stream's windows if it is evaluated by windows (train.stride), else 0
};

/// Returns the trial's identity with Identity::values set.
Identity with_values(const PlannedTrial& planned);

/// Returns the files that the trial's values name, with the digests in the trial's key. A worker compares them with the files.
std::vector<PlannedFile> planned_files(const Trial& trial, TrialSection section);

/// Time limits of a task's calls before any trial. A task that hangs must also end with a reason.
struct TaskLimits {
  double describe_s = 60;   ///< factory and info(), which must take milliseconds
  double prepare_s = 3600;  ///< factory, info(), load(): may download and convert; a greater [experiment] timeout allows more
};

/// Checks everything that needs only the tasks' info() and the machine. Finds missing data and devices, and compression
/// rates below one slot of a sequence (rate * length < 1). Also finds lengths that a plugin does not promise, and attentions
/// that refuse their place in the model. Starts an executor unless all answers are cached. Throws ConfigError with all errors.
void check_tasks(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                 const TaskLimits& limits = {});

/// Prepares every data set of the study, generating and caching it if needed, and computes each trial's key. Checks everything
/// that needs the examples: empty splits, and padding that an attention refuses. Throws ConfigError with all errors, and Error.
std::vector<PlannedTrial> plan(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                               const TaskLimits& limits = {});

/// Removes the cached answers of the study's tasks, because their data have changed.
void forget_tasks(const Study& study, const Catalog& catalog, const TaskMemory& memory);

}  // namespace ablate
