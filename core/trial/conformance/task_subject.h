// What the checks of tasks look at: a loaded task, a second one of the same parameters, a third one of another data_seed, and
// what a load reads.
#pragma once

#include <set>

#include "core/trial/conformance/sampled_task.h"

namespace ablate {

class TaskSubject : public SampledTask {
 public:
  using SampledTask::SampledTask;

  /// Makes and loads all of them, `other` where `seed` is not kNone; before, the first one in a child, to see what it opens:
  /// what that leaves in the cache folder the first one here finds, and the second one has to make anew. A quick look makes
  /// data once, of few examples where the task takes them: the second one finds them, and there is no other one.
  void load();

  std::unique_ptr<Task> again;
  std::vector<std::filesystem::path> files;
  std::set<std::filesystem::path> opened;  ///< what a load really reads, where `untraced` is empty
  bool keeps_data = false;                 ///< in its cache folder
  std::string untraced;                    ///< why it cannot be seen here
};

}  // namespace ablate
