// How attempts end leases, and what becomes of one whose lease was taken over while it ran. No SQLite.
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

/// What a lease says of the attempt that ended it; "": anybody may have the trial, as where it was given back.
inline std::string lease_end(const Attempt& attempt) { return attempt.is_tried_again ? "" : attempt.outcome; }

/// Whether a trial whose lease ended so elsewhere is tried by whoever has it in a queue: what ended it was nobody's fault, or
/// it never began. @param ended as lease_end
inline bool is_free_for_others(const std::string& ended) { return ended.empty() || !counts_as_try(ended); }

}  // namespace ablate::db
