// Runs a study's trials, from file to history: the work of `ablate run` and `ablate bench` without their output. Torch-free.
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

/// Result of a launch. The history has the outcome of each trial.
struct Launched {
  RunSummary ran;                     ///< empty if a proof was requested
  std::optional<ProofSummary> proof;  ///< set if a proof was requested

  ExitCode exit_code() const {
    return proof ? proof->differences.empty() ? ExitCode::kDone : ExitCode::kTrialsFailed : ran.exit_code();
  }
};

/// Records a planned study in its history, which is created if missing, and runs its wanted trials that are not done. If a
/// proof was requested, repeats trials for the proof instead. Lines about running trials go to stderr. Trials on which dev
/// compares values run first, then trials that wait for dev's choice, and longer trials. The plan must outlive the call. Throws
/// Error, and Interrupted if a signal asks to stop before the first trial. A later stop is reported in RunSummary::interrupted.
/// @param note receives notes and warnings before the first trial, and dev's choices between two parts of the grid
Launched launch(const PlannedStudy& plan, Executors& executors, const Note& note);

}  // namespace ablate
