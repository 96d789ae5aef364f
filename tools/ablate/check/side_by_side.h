// Runs jobs of one checker, several at a time.
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
  std::function<void(const JobOutcome& outcome, const std::string& failed)> end;  ///< failed: as failure_text
  std::function<void()> again = {};  ///< it begins anew, and has been heard already
};

/// Starts the jobs in their order, at most `at_a_time` of them at once, each with a limit of its own. What is
/// broken off from outside (JobOutcome::broken_off), or ran in a checker that died, begins anew once, alone; the second time
/// that is how it ended. Throws Error on Ctrl-C.
void run_side_by_side(std::vector<ListenedCheck> jobs, int at_a_time, double timeout_s, Executors& checkers);

}  // namespace ablate
