// Runs check jobs on one checker, several at a time.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "core/host/client/executors.h"
#include "core/shared/jobs.h"

namespace ablate {

struct ListenedCheck {
  std::variant<CheckJob, AuditJob> job;
  std::function<void(const CheckSaid& said)> hear;
  std::function<void(const JobOutcome& outcome, const std::string& failed)> end;  ///< failed: see failure_text
  std::function<void()> again = {};  ///< called before a restart, which repeats messages
};

/// Starts the jobs in their order, at most `at_a_time` at once, each with its time limit. A job that is broken off from outside
/// (JobOutcome::broken_off), or whose checker died, restarts once, alone. Throws Error on Ctrl-C.
void run_side_by_side(std::vector<ListenedCheck> jobs, int at_a_time, double timeout_s, Executors& checkers);

}  // namespace ablate
