// Which trials of a plan the history has, and why it lacks the others. Torch-free.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/host/scheduler/identity.h"
#include "core/host/scheduler/plan.h"
#include "db/types/lineage.h"

namespace ablate {

/// Finds the done trial that differs least from a planned one. Stores each value as a number, in one column for each setting
/// and part of the basis: thousands of trials are compared with thousands.
class Nearest {
 public:
  /// @param others the first is chosen if several are equally near; each with a whole basis
  explicit Nearest(std::vector<db::PastTrial> others);

  bool empty() const { return others_.empty(); }
  /// Returns the trial with the fewest differences(). Not for an empty one.
  const db::PastTrial& of(const Identity& trial) const;

 private:
  struct Column {
    std::unordered_map<std::string, int> numbers;  ///< value's text -> its number
    std::vector<int> values;                       ///< number by trial in others_; 0: the trial has no value
  };
  std::vector<db::PastTrial> others_;
  std::map<std::string, Column> columns_;
};

struct Standings {
  std::vector<std::string> lines;     ///< by trial
  std::vector<bool> done;             ///< by trial
  bool nothing_like_them = false;     ///< of none of the trials anything like it has been run
  std::vector<std::string> left_out;  ///< what of the history cannot be read (db::Reader::left_out)
};

/// For each trial, in a line: "done, attempt 12"; "attempt 5 failed: ...; not done"; "not done: as attempt 12, but for the code
/// of adamra (attention)"; "not done: the nearest, attempt 7, differs in train.steps (20, was 10)"; "not done: nothing like it
/// has been run". Compared with the latest done trial of the same settings, else with the nearest of the experiment's.
/// @param database may be missing: nothing has been run then. One that cannot be read is told instead, in every line.
/// Throws Interrupted where a signal asks to stop.
Standings standings(const std::vector<const PlannedTrial*>& trials, const std::string& experiment,
                    const std::filesystem::path& database);

}  // namespace ablate
