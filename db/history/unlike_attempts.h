// One key, two numbers: attempts at one trial in one environment whose results should be equal, and are not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace ablate::db {

/// SQL: whether numbers of a metric m should be equal; those that the host measures never are.
inline constexpr const char* kComparable = "NOT (m.kind = 'cost' AND m.owner = 'host') AND m.name <> 'train/replayed_steps'";

/// Two done attempts at one trial, and the first of their numbers that differs.
struct UnlikeAttempts {
  std::int64_t trial = 0;
  std::int64_t earlier = 0, latest = 0;  ///< numbers of the attempts; the latest done attempt at a trial is the one that counts
  /// "attempts 12 and 3 at trial 0123456789ab have different numbers in the same environment: test/accuracy 61.5 and 60"
  std::string text;
};

/// Compares each done attempt with the latest done one of the same trial in the same environment: processor, instructions,
/// GPUs, compiler, libraries and variables. Numbers that the host measures differ in any case and are left out, as are numbers
/// that only one attempt has, and attempts that went on from a checkpoint of another environment. @param trials of trial ids,
/// as SQL: "= 5", "IN (5, 6)", "> 0" @param with_curves also compares curves, which costs a search for each point
std::vector<UnlikeAttempts> unlike_attempts(SQLite::Database& database, const std::string& trials, bool with_curves = true);

/// Attempts that another history has with other numbers.
struct OtherNumbers {
  std::int64_t attempts = 0;
  std::string first;  ///< "trial 0123456789ab: test/accuracy 61.5 here and 60 there"; "" if there are none
};

/// Compares attempts that the history attached as `other` has under the same uid: such attempts are copies, so their numbers
/// are equal unless another program has changed one. Leaves the same numbers out as unlike_attempts. Reads the temporary tables
/// known (old, id) and metric_of of a merge.
OtherNumbers other_numbers(SQLite::Database& database);

}  // namespace ablate::db
