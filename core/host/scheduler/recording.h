// A study on its way into a run history, before its first trial.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/host/scheduler/many_trials.h"
#include "core/host/scheduler/plan.h"
#include "db/history/store.h"

namespace ablate {

/// Opens it for writing. Throws Error, Interrupted where a signal asks to stop while another process holds it.
db::Store open_history(const std::filesystem::path& file);

/// What a history is told of a study: all its trials, whichever are run, or the grid's table would shrink.
class Recording {
 public:
  /// @param verdicts of the plugins that it uses @param many of the plan's trials @param is_left_out of what dev has not
  /// chosen; asked at each write; empty: of none @param listed_us db::Experiment::listed_us. The study and the plan outlive it.
  Recording(const Study& study, const std::vector<PlannedTrial>& planned, std::vector<db::KnownVerdict> verdicts,
            ManyTrials many, std::function<bool(const Trial&)> is_left_out = {}, std::int64_t listed_us = 0)
      : study_(study),
        planned_(planned),
        verdicts_(std::move(verdicts)),
        many_(std::move(many)),
        is_left_out_(std::move(is_left_out)),
        listed_us_(listed_us) {}

  /// Whole: where it throws, nothing is written. @param ends_early throws Interrupted where a signal asks to stop; what has
  /// results to save must not
  void write(db::GridStore& into, bool ends_early) const;

 private:
  const Study& study_;
  const std::vector<PlannedTrial>& planned_;
  std::vector<db::KnownVerdict> verdicts_;
  ManyTrials many_;
  std::function<bool(const Trial&)> is_left_out_;
  std::int64_t listed_us_;
};

}  // namespace ablate
