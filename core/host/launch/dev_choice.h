// Values of [grid.tune] that dev has chosen so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"
#include "db/questions/selection/chosen_values.h"

namespace ablate {

/// Values that dev has chosen so far, for a study in which some trials wait for the choice (Study::waits_for_dev). The study's
/// trials are planned at all values. Longer trials wait, and if [grid.tune] has seeds, reported trials wait, too. Waiting
/// trials belong to the grid only at the chosen values.
class DevChoice {
 public:
  /// Choice without chosen values, also for a study in which no trial waits.
  DevChoice() = default;
  /// Reads the history, if any. A cell's value is chosen when all its trials that compare values (Study::comparing_role) are
  /// done or would be set aside by a run.
  DevChoice(const Study& study, const std::vector<PlannedTrial>& planned, const std::filesystem::path& database);

  /// True if the trial is not (or not yet) in the grid: it waits for the choice and its value is not chosen, or `widen` of
  /// [grid.tune] has not added its value.
  bool leaves_out(const Trial& trial) const;
  /// Returns placeholders for the waiting trials that will run when dev has chosen. For each cell without a choice, these are
  /// the waiting trials at the cell's first value: a cell has equally many trials at each of its values.
  std::vector<const PlannedTrial*> awaited(const std::vector<PlannedTrial>& planned) const;
  /// Summary for the user: "dev has chosen in 2 of 3 settings; 1 waits for trials that tune".
  std::string text() const;

  /// Number of values that `widen` of [grid.tune] has added, over all cells. They may not have run yet.
  std::size_t added_values() const;

 private:
  /// Numbers of values below and above the values that the study writes for a cell.
  struct Added {
    int below = 0, above = 0;
  };

  bool is_beyond(const Trial& trial) const;
  /// Adds a value to a cell if the cell's best value is at an edge. Returns false if no value is added.
  /// @param most how many values the study has beyond each end of this cell
  bool widen(const Study& study, const Added& most, std::int64_t cell, std::int64_t best,
             const std::vector<const Trial*>& trials);
  bool waits(const Trial& trial) const { return waits_for_dev_ && trial.cell && trial.role != comparing_; }

  bool waits_for_dev_ = false;
  Role comparing_ = Role::kReported;
  std::size_t cells_ = 0;
  /// Chosen values by cell, for cells whose comparing trials have ended. ChosenValue::value is nullopt if each value of the
  /// cell has a trial that is not done.
  std::map<std::int64_t, db::ChosenValue> chosen_;
  std::map<std::int64_t, Added> added_;
  std::size_t edges_ = 0;  ///< number of cells whose chosen value is the smallest or the largest tried value
};

}  // namespace ablate
