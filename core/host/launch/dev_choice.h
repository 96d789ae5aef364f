// What dev has chosen so far of a study that tunes on seeds of its own ([grid.tune] seeds). Its trials are planned at all
// values, and those that are reported belong to its grid at the chosen ones alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

class DevChoice {
 public:
  /// Nothing is chosen, or the study tunes on no seeds of its own.
  DevChoice() = default;
  /// Asks the history. A cell's value is chosen once each of its trials that tune is done, or has ended so that a run sets it
  /// aside. @param database may be missing
  DevChoice(const Study& study, const std::vector<PlannedTrial>& planned, const std::filesystem::path& database);

  /// Whether a trial is reported, and not at the value that is chosen: it is not of the grid, or not yet.
  bool leaves_out(const Trial& trial) const;
  /// Of cells whose value is not known yet the trials that will be reported, at their first values: as many as it will be.
  std::vector<const PlannedTrial*> awaited(const std::vector<PlannedTrial>& planned) const;
  /// "dev has chosen in 2 of 3 settings; 1 waits for trials that tune"
  std::string text() const;

 private:
  bool is_apart_ = false;
  std::size_t cells_ = 0;
  /// By cell whose trials that tune have ended; nothing where no value has all of its trials done.
  std::map<std::int64_t, std::optional<std::int64_t>> chosen_;
};

}  // namespace ablate
