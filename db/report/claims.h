// Judges claims (core/records/claim.h) by the numbers of a table. No SQLite.
#pragma once

#include <string>
#include <vector>

#include "core/records/claim.h"
#include "db/report/inference/difference.h"
#include "db/types/table.h"

namespace ablate::db {

struct ClaimAnswer {
  /// kOnlyHere: holds at the study's steps, and the longer trials do not confirm it, or there are none.
  enum class Verdict { kHolds, kOnlyHere, kRefuted, kUndecided };

  Claim claim;
  Verdict verdict = Verdict::kUndecided;
  Difference difference;       ///< the row minus the other row or the floor
  double p = 1, p_holm = 1;    ///< for "no different": the larger p of two one-sided tests, of the difference ± Claim::by
  double longer = kNoNumber;   ///< mean difference of the longer trials over common seeds
  std::int64_t factor = 0;     ///< longer trials' steps, in multiples of the study's; 0: no longer trials of both rows
  std::int64_t steps = 0;      ///< the study's steps; 0: not known
  double floor = kNoNumber;    ///< the strongest floor of the row's test examples
  int seeds_needed = 0;        ///< if undecided: seeds that find Table::smallest with a power of 80 %; 0: not known
  std::string reason;          ///< why nothing was tested: "seed 3 is missing"; "" otherwise
};

/// Returns "holds", "holds only at 600 steps", "refuted" or "undecided".
std::string verdict_text(const ClaimAnswer& answer);

/// Returns the answer as a sentence: "clustering finds more than segment-mean by 28.7 points [27.8, 29.7] (n = 8, p = 0.0078)".
std::string sentence_of(const ClaimAnswer& answer, const MetricInfo& metric);

/// Judges claims of one study. Each family is corrected by Holm's method.
/// - kGreater, kSmaller: holds if p_holm <= 0.05 with the expected sign, and the longer difference has the same sign and at
///   least half the size. Refuted if p_holm <= 0.05 with the other sign.
/// - kNoDifferent: holds if p_holm <= 0.05, and the longer difference is within ± Claim::by. Refuted if the 95 % interval is
///   outside ± Claim::by.
/// Throws Error if a row is not exactly one row of the table, or a metric is not in it.
/// @param table one column; a row for each setting; intervals and statistics are not needed
/// @param floors strongest floor of each row and metric, [row][metric]; NaN: not known
std::vector<ClaimAnswer> judge(const std::vector<Claim>& claims, const Table& table, const std::vector<double>& floors);

}  // namespace ablate::db
