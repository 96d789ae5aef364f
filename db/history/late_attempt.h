// An attempt whose lease was taken over while it ran. No SQLite.
#pragma once

#include <string>

#include "core/records/outcome.h"
#include "db/types/records.h"

namespace ablate::db {

/// As it is kept: interrupted, with its true outcome in the reason, with its curves and files, without its results: the other
/// scheduler gives those. @param newest fence of its trial; 0: there is none
inline Attempt late_attempt(Attempt attempt, std::int64_t newest) {
  auto was = attempt.outcome;
  if (!attempt.reason.empty()) was += ": " + attempt.reason;
  if (const auto main = attempt.results.find(attempt.main_metric); main != attempt.results.end())
    was += ", " + main->first + " " + std::to_string(main->second);
  attempt.reason = "came late: another scheduler had taken the trial over (fence " + std::to_string(attempt.fence) +
                   (newest > 0 ? ", now " + std::to_string(newest) : "") + "); it was " + was;
  attempt.outcome = outcome::kInterrupted;
  attempt.results.clear();
  return attempt;
}

/// Whether a trial that ended so elsewhere is tried again: its end was no fault of its own.
inline bool is_tried_again(const std::string& ended) {
  return ended.empty() || ended == outcome::kDone || ended == outcome::kInterrupted || ended == outcome::kLost;
}

}  // namespace ablate::db
