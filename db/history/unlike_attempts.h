// Attempts at one trial in one environment whose results should be equal, but differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace ablate::db {

/// SQL condition: the values of a metric m should be equal. Costs that the host measures always differ.
inline constexpr const char* kComparable = "NOT (m.kind = 'cost' AND m.owner = 'host') AND m.name <> 'train/replayed_steps'";

/// Two done attempts at one trial, and the first number in which they differ.
struct UnlikeAttempts {
  std::int64_t trial = 0;
  std::int64_t earlier = 0, latest = 0;  ///< numbers of the attempts; the latest done attempt at a trial counts
  /// "attempts 12 and 3 at trial 0123456789ab have different numbers in the same environment: test/accuracy 61.5 and 60"
  std::string text;
};

/// Compares each done attempt with the trial's latest done attempt in the same environment: processor, instructions, GPUs,
/// compiler, libraries and variables. Leaves out costs that the host measures, numbers that only one attempt has, and
/// attempts that resumed from a checkpoint of another environment.
/// @param trials SQL condition on trial ids: "= 5", "IN (5, 6)", "> 0"
/// @param with_curves also compares curves, which costs a search for each point
std::vector<UnlikeAttempts> unlike_attempts(SQLite::Database& database, const std::string& trials, bool with_curves = true);

/// Attempts whose numbers differ from their copies in another history.
struct OtherNumbers {
  std::int64_t attempts = 0;
  std::string first;  ///< "trial 0123456789ab: test/accuracy 61.5 here and 60 there"; "" if there are none
};

/// Compares the attempts that this history and the attached history `other` store under the same uid. These attempts are
/// copies, so their numbers are equal unless another program changed a copy. Leaves out the same numbers as unlike_attempts.
/// Reads a merge's temporary tables `known` (old, id) and `metric_of`.
OtherNumbers other_numbers(SQLite::Database& database);

}  // namespace ablate::db
