// A study on its way into a run history, before its first trial.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"
#include "db/history/store.h"

namespace ablate {

/// Opens it for writing. Throws Error, Interrupted where a signal asks to stop while another process holds it.
db::Store open_history(const std::filesystem::path& file);

/// Writes a study with all its trials, whichever are run: else the grid's table would shrink. If it throws, nothing is written.
/// @param verdicts of the plugins that it uses @param is_left_out of what dev has not chosen; empty: of none
/// @param listed_us db::Experiment::listed_us @param ends_early throws Interrupted if a signal asks to stop; what has results
/// to save must not
void record_study(db::GridStore& into, const Study& study, const std::vector<PlannedTrial>& planned,
                  const std::vector<db::KnownVerdict>& verdicts, const std::function<bool(const Trial&)>& is_left_out,
                  std::int64_t listed_us, bool ends_early);

}  // namespace ablate
