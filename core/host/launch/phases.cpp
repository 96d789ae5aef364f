#include "core/host/launch/phases.h"

#include <string_view>

namespace ablate {

void PhaseNotices::tell(Notice notice, bool is_last) {
  notice.done += before_.done;
  notice.failed += before_.failed;
  notice.skipped += before_.skipped;
  notice.set_aside += before_.set_aside.total();
  notice.elsewhere += before_.elsewhere;
  const std::string_view event = notice.event;
  if (event == "failure" && std::exchange(has_told_failure_, true)) return;  // it is of the first one
  if (event == "end" && !is_last)
    end_ = notice;
  else
    tell_(notice);
}

void add(const RunSummary& later, RunSummary& all) {
  all.done += later.done, all.failed += later.failed, all.skipped += later.skipped;
  all.elsewhere += later.elsewhere, all.failed_elsewhere += later.failed_elsewhere;
  all.not_started += later.not_started;
  for (const auto& [outcome, count] : later.set_aside.by_outcome) all.set_aside.by_outcome[outcome] += count;
  all.set_aside.exhausted += later.set_aside.exhausted;
  all.set_aside.quarantined += later.set_aside.quarantined;
  all.quarantines.insert(all.quarantines.end(), later.quarantines.begin(), later.quarantines.end());
  all.failure_lines.insert(all.failure_lines.end(), later.failure_lines.begin(), later.failure_lines.end());
  all.interrupted = all.interrupted || later.interrupted;
}

std::optional<MostFailures> left_of(const MostFailures& most, const RunSummary& before) {
  if (before.not_started > 0) return std::nullopt;
  if (most.trials == 0) return most;
  if (before.failed >= most.trials) return std::nullopt;
  return MostFailures{.trials = most.trials - before.failed};
}

}  // namespace ablate
