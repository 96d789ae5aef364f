// Rules for the end of a lease, and for a late attempt, whose lease was taken over while it ran. No SQLite.
#pragma once

#include <string>

#include "core/records/outcome.h"
#include "db/types/records.h"

namespace ablate::db {

/// Returns a late attempt as the history stores it: as interrupted, with the true outcome in the reason, and with its curves
/// and files. Its results are left out, because the other scheduler provides them.
/// @param newest the trial's newest fence; 0: none
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

/// Returns the outcome that ends a lease; "" if any scheduler may take the trial, as after give_back.
inline std::string lease_end(const Attempt& attempt) { return attempt.is_tried_again ? "" : attempt.outcome; }

/// True if other schedulers may still try a trial whose lease ended this way, because this end does not count as a try.
/// @param ended result of lease_end
inline bool is_free_for_others(const std::string& ended) { return ended.empty() || !counts_as_try(ended); }

}  // namespace ablate::db
