// Judges claims (core/records/claim.h) by the numbers of a table. No SQLite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/records/claim.h"
#include "db/report/inference/difference.h"
#include "db/report/named_rows.h"
#include "db/types/table.h"

namespace ablate::db {

struct ClaimAnswer {
  /// kOnlyHere: holds at the study's steps, but the longer trials do not confirm it, or there are no longer trials.
  enum class Verdict { kHolds, kOnlyHere, kRefuted, kUndecided };

  Claim claim;
  Verdict verdict = Verdict::kUndecided;
  MetricInfo metric;
  Difference difference;           ///< the row minus the other row or the floor
  double p = kNoNumber;            ///< of this claim alone; NaN: nothing was tested
  double p_holm = kNoNumber;       ///< corrected over the claim's family
  double longer = kNoNumber;       ///< the difference of the longer trials over common seeds; NaN: unknown
  int longer_seeds = 0;            ///< seeds of `longer`
  std::int64_t factor = 0;         ///< longer trials' steps, in multiples of the study's; 0: unknown
  double floor = kNoNumber;        ///< best floor of the row's test examples; NaN: unknown
  int seeds_needed = 0;            ///< if undecided: seeds that find Table::smallest with power kPower; 0: unknown
  std::string untested;            ///< why nothing was tested; "": a test was made
  std::optional<std::size_t> row;  ///< the claim's row in the table; nullopt if it is not exactly one row
  std::string steps;    ///< the row's training steps, "600"; "": unknown. The caller fills in this member and the next
  std::string context;  ///< what the numbers hold for, "lookup, 600 steps"; "": unknown
};

/// Judges the claims of one study. Each family is corrected by Holm's method.
/// - kGreater, kSmaller: holds if p_holm <= kLevel, the difference has the expected sign, and the longer difference has the
///   same sign and at least half the size. Refuted if p_holm <= kLevel and the difference has the other sign.
/// - kNoDifferent: p is the larger p of two one-sided exact tests, of the difference plus and minus Claim::by (Schuirmann
///   1987). Holds if p_holm <= kLevel and the longer difference lies within ± Claim::by. Refuted if the difference's 95 %
///   interval lies outside ± Claim::by.
/// A claim is untested if its row is not exactly one row of the table, or if the table lacks its metric. An untested claim
/// still counts in its family.
/// @param table one column, with a row for each setting
std::vector<ClaimAnswer> judge(const std::vector<Claim>& claims, const Table& table);

/// Returns "holds", "holds only at 600 steps", "refuted" or "undecided".
std::string verdict_text(const ClaimAnswer& answer);

/// Returns the answer as a sentence: "test/accuracy: attention=adamra is greater than attention=softmax by 3.1 points
/// [2.0, 4.2] (lookup, 600 steps; n = 8, p = 0.0078 after Holm; with 5 times the steps 2.9 points, 2 seeds; floor 10.5)".
std::string sentence_of(const ClaimAnswer& answer);

/// Returns a row for each claim.
/// @param study name of the study, in the last column
/// @param for_people problem, answer, effect, n and p, floor, verdict and study, as texts; else all numbers and the sentence
NamedRows claim_rows(const std::vector<ClaimAnswer>& answers, const std::string& study, bool for_people);

}  // namespace ablate::db
