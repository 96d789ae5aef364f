// That an edit of code changed no number: shown by repeating trials, so that the history stays valid under the new code.
// Torch-free.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/scheduler.h"
#include "db/history/store.h"

namespace ablate {

struct ProofSummary {
  int repeated = 0;  ///< trials
  std::vector<std::string>
      differences;  ///< "attempt 12: test/loss is 0.69314718055994529, was 0.69314718055994531"; a trial that failed
  std::vector<std::int64_t> proofs;  ///< their numbers, one for each change of code; none where there is a difference,
                                     ///< or another run has proven the change meanwhile
  /// Both are of the end, when all changes are proven (carried.h): trials of the history that are done by them under the code
  /// of today; and those that are not: "attempts 3, 4: attention.heads = 4 was not repeated".
  std::size_t kept = 0;
  std::vector<std::string> left;
  bool may_prove_more = false;        ///< another study may prove some of those that are left
  std::vector<std::string> left_out;  ///< what of the history cannot be read (db::Reader::left_out)
};

/// Repeats trials of the plan that are not done, but were under other code (of plugins, or the runtime's version) with the same
/// settings, data and torch, on this machine as it is now: for each such change of code at least so many, and as many as it
/// takes for each value that the changed code can tell (coverage.h) among those trials. Where every result but the times and
/// memory that the host itself measures is the same to the last bit, the done trials of the old code, in all experiments, that
/// have repeated values alone get the key of the new one as well, and the proof is recorded. Otherwise the history stays as it
/// is. Throws Error where no trial of the plan can be repeated for it: which are done, or differ in more, or ran in another
/// environment.
ProofSummary prove(const std::vector<const PlannedTrial*>& trials, int least, Executors& executors, db::Store& store,
                   const RunOptions& how, const Catalog& catalog);

}  // namespace ablate
