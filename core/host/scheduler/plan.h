// From a study to what has to run: keys, data sets, and what the history already has.
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
  std::string key;  ///< the identity's
  std::vector<UsedPlugin> plugins;
  std::string data_digest;  ///< of the task's data as it was when the trial was planned; part of the key
  std::int64_t train_size = 0, dev_size = 0, test_size = 0;  ///< examples of the task's splits; of a stream segments
  std::int64_t length = 0, train_length = 0;                 ///< of the longest example, and of the longest in training
  std::int64_t window_length = 0;  ///< of a stream that is evaluated by windows (train.stride); 0: another, or examples
};

/// Its identity with every value.
Identity with_values(const PlannedTrial& planned);

/// What a worker compares with the files that the trial's values name, as the keys were made with them.
std::vector<PlannedFile> planned_files(const Trial& trial, TrialSection section);

/// How long a task's calls before any trial may take. A task that hangs must end with a reason, too.
struct TaskLimits {
  double describe_s = 60;   ///< factory and info(), which promises milliseconds
  double prepare_s = 3600;  ///< with load(), which may download and convert; a greater [experiment] timeout allows more
};

/// Checks what the tasks' headers and the machine tell: data that is missing, rates that leave no slot of their sequence
/// length, lengths that a plugin does not promise, devices that are not there, attentions that refuse their place in the model.
/// Throws ConfigError with everything that is wrong.
/// @param executors of which one is started where a task has to be asked: none where all was answered before
void check_tasks(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                 const TaskLimits& limits = {});

/// Prepares every data set of the study (generating and caching it where needed), checks what only the examples tell (splits
/// that are empty, padding that an attention does not promise to take) and names each trial. Throws ConfigError with everything
/// that is wrong, and Error.
std::vector<PlannedTrial> plan(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                               const TaskLimits& limits = {});

/// Forgets what the study's tasks have answered: their data are not what they were.
void forget_tasks(const Study& study, const Catalog& catalog, const TaskMemory& memory);

}  // namespace ablate
