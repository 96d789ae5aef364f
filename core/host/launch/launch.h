// A study's trials, from its file to the history: what `ablate run` and `ablate bench` do, without a word of their own.
// Torch-free.
//
//   Executors executors = local_workers();
//   const auto find = [&] { return scan_libraries(plugin_folders({}), executors); };
//   auto plan = plan_study({.study = "study.toml", .database = "ablate.db"}, find, {}, executors, note);
//   const auto launched = launch(plan, executors, note);
#pragma once

#include <optional>

#include "core/host/launch/planned_study.h"
#include "core/host/proof/prove.h"

namespace ablate {

/// How it went. What happened to each trial is in the history.
struct Launched {
  RunSummary ran;                     ///< nothing, where a proof was asked for
  std::optional<ProofSummary> proof;  ///< where it was asked for

  ExitCode exit_code() const {
    return proof ? proof->differences.empty() ? ExitCode::kDone : ExitCode::kTrialsFailed : ran.exit_code();
  }
};

/// Records a planned study in its history, made where there is none, and runs those of its wanted trials that are not done; or
/// proves, where that was asked for. While it goes on, lines of running trials go to stderr. Throws Error, and Interrupted
/// where a signal asks to stop before the first trial; later it is RunSummary::interrupted. The plan stays where it is
/// meanwhile. Where values are chosen on seeds of their own ([grid.tune] seeds), the trials that tune run first, then those of
/// the chosen values.
/// @param note takes what is worth telling before the first trial
Launched launch(const PlannedStudy& plan, Executors& executors, const Note& note);

}  // namespace ablate
