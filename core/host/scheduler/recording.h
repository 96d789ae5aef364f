// Writes a study into a run history, before its first trial.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"
#include "db/history/store.h"

namespace ablate {

/// Opens a history for writing. Throws Error, or Interrupted if a signal asks to stop while another process has a lock.
db::Store open_history(const std::filesystem::path& file);

/// Writes a study with all its trials. Trials that this run does not start are included: without them the grid's
/// table would shrink. Writes nothing if it throws.
/// @param verdicts verdicts on the study's plugins
/// @param is_left_out returns true for a trial whose value dev has not chosen; empty: no trial is left out
/// @param listed_us db::Experiment::listed_us
/// @param ends_early if true, throws Interrupted when a signal asks to stop; false for a caller that has results to save
void record_study(db::GridStore& into, const Study& study, const std::vector<PlannedTrial>& planned,
                  const std::vector<db::KnownVerdict>& verdicts, const std::function<bool(const Trial&)>& is_left_out,
                  std::int64_t listed_us, bool ends_early);

}  // namespace ablate
