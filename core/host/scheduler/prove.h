// That an edit of code changed no number: shown by repeating trials, so that the history stays valid under the new code.
// Torch-free.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/scheduler.h"

namespace ablate {

struct ProofSummary {
  int repeated = 0;  ///< trials
  std::vector<std::string>
      differences;  ///< "attempt 12: test/loss is 0.69314718055994529, was 0.69314718055994531"; a trial that failed
  std::vector<std::int64_t> proofs;  ///< their numbers, one for each change of code; none where there is a difference
  std::size_t kept = 0;              ///< trials of the history that have a new key by them
  /// Those that have none: "attempts 3, 4: attention.heads = 4 was not repeated".
  std::vector<std::string> left;
};

/// Repeats trials of the plan that are not done, but were under other code (of plugins, or the runtime's version) with the same
/// settings, data and torch, on this machine as it is now: for each such change of code at least so many, and as many as it
/// takes for each value that a parameter of the changed plugins has among those trials. Where every result but the times and
/// memory that the host itself measures is the same to the last bit, the done trials of the old code, in all experiments, that
/// have repeated values alone get the key of the new one as well, and the proof is recorded. Otherwise the history stays as it
/// is. Throws Error where no trial of the plan can be repeated for it: which are done, or differ in more, or ran in another
/// environment.
ProofSummary prove(const std::vector<const PlannedTrial*>& trials, int least, std::unique_ptr<WorkerClient>& worker,
                   db::Store& store, const RunOptions& how);

}  // namespace ablate
