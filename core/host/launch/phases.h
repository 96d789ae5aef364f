// A grid in two phases: trials that tune on seeds of their own, then what is reported of the values that dev has chosen.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include "core/host/scheduler/scheduler.h"

namespace ablate {

/// What a grid is told to those who do not watch, where it has another phase: one end, of all.
class PhaseNotices {
 public:
  explicit PhaseNotices(std::function<void(const Notice&)> tell) : tell_(std::move(tell)) {}

  /// A notice of the phase that runs. @param is_last no other phase follows
  void tell(Notice notice, bool is_last);
  void begin_next(const RunSummary& before) { before_ = before, end_.reset(); }
  /// No other phase begins after all: tells what was kept. @param not_started since too many had failed
  void end(int not_started = 0) {
    if (!end_) return;
    end_->not_started = std::max(end_->not_started, not_started);
    tell_(*end_);
  }

 private:
  std::function<void(const Notice&)> tell_;
  RunSummary before_;
  std::optional<Notice> end_;
  bool has_told_failure_ = false;
};

/// Adds what a later phase came to.
void add(const RunSummary& later, RunSummary& all);

/// How many more may fail. Nothing where no more may: no other trial starts.
std::optional<MostFailures> left_of(const MostFailures& most, const RunSummary& before);

}  // namespace ablate
