// Reports which trials of a plan are done in the history, and why the others are not. Torch-free.
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
/// and part of the basis, because thousands of trials are compared with thousands of others.
class Nearest {
 public:
  /// @param others trials with a whole basis; if several are equally near, the first is chosen
  explicit Nearest(std::vector<db::PastTrial> others);

  bool empty() const { return others_.empty(); }
  /// Returns the trial with the fewest differences(). Must not be called if empty().
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
  bool nothing_like_them = false;     ///< true if the history has no similar trial for any of the trials
  std::vector<std::string> left_out;  ///< parts of the history that cannot be read (db::Reader::left_out)
};

/// Returns a line for each trial: "done, attempt 12"; "not done: attempt 5 failed: ..."; "not done: like attempt 12, except for
/// the code of adamra (attention)"; "not done: the nearest, attempt 7, differs in train.steps (20, was 10)"; "not done: nothing
/// like it has been run". Compares with the latest done trial of the same settings, else with the experiment's nearest trial.
/// If the database is missing, nothing has been run. If it cannot be read, every line has the error. Throws Interrupted.
Standings standings(const std::vector<const PlannedTrial*>& trials, const std::string& experiment,
                    const std::filesystem::path& database);

}  // namespace ablate
