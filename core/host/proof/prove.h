// `--prove`: shows by repeating trials that an edit of code changed no number, so that done trials stay valid under the new
// code. A proof holds only for trials with the scope of a repeated trial (scope_of). Other trials run anew. Torch-free.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/scheduler.h"
#include "db/history/store.h"

namespace ablate {

struct ProofSummary {
  int repeated = 0;  ///< number of repeated trials
  /// "attempt 12: test/loss is 0.69314718055994529, was 0.69314718055994531", or how a repeated trial failed.
  std::vector<std::string> differences;
  std::int64_t proof = 0;             ///< the proof's number in the history; 0 if there is a difference
  std::size_t kept = 0;               ///< number of done trials of the history that stay done under the new code
  std::vector<std::string> left_out;  ///< parts of the history that cannot be read (db::Reader::left_out)
};

/// Returns a merge patch that turns the basis `before` into `now`: {"plugins": {"attention": code}, "runtime": 4}. Returns null
/// if nothing differs, or if data, torch or the paths of plugins differ.
nlohmann::json code_patch(const nlohmann::json& before, const nlohmann::json& now);

/// Part of a trial that a patch of code can reach.
enum class Reach {
  kTask,    ///< only the task has changed: the scope has the task's settings, [model], and parts of [train] (scope_of)
  kPlugin,  ///< an attention or a compression has changed: the scope also has the whole [attention]
  kHost,    ///< ablate's own code has changed: the scope has all settings except the seed
};
Reach reach_of(const nlohmann::json& patch);

/// Returns a text that identifies trials of the old code. If two trials have the same text, a proof that repeats one of them
/// holds for the other. The text has all code, data and values that the changed code can read. Unless the host's code has
/// changed, the text leaves out settings of [train] that change the numbers that a plugin receives, but no shape, call or step
/// count. These settings are learning rate, optimiser, schedule, decay, clipping, loss pieces and shuffled labels.
std::string scope_of(const Identity& before, Reach reach);

/// Repeats trials of the plan that differ from done trials only in code: settings, data, torch and machine are equal. Repeats
/// one trial of each scope, at least `least` trials in all. Compares all results to the last bit, except the host's own times
/// and memory. If all are equal, all done trials of these scopes, in all experiments, also get the new code's key, and the
/// history gets a proof. Otherwise the history stays as it is. Throws Error if the plan has no trial to repeat.
ProofSummary prove(const std::vector<const PlannedTrial*>& trials, int least, Executors& executors, db::Store& store,
                   const RunOptions& how);

}  // namespace ablate
