// The division of a grid into shares, as a file that all machines read.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

struct SharedTrial {
  std::string key, label;
  double cost = 0;  ///< more than 0, relative to other trials; in seconds if a history has times
  int share = 0;    ///< less than SharesPlan::shares; kDoneBefore: already done when the plan was made

  static constexpr int kDoneBefore = -1;
};

struct SharesPlan {
  std::string experiment;
  int shares = 1;                   ///< 1 to kMostShares
  std::vector<SharedTrial> trials;  ///< in the grid's order, each key once

  static constexpr int kMostShares = 100'000;
};

/// Shares to compute one after the other, as in "3/16" and "3,7,11/16".
struct ShareNames {
  std::vector<int> indexes;  ///< each less than `shares`, without duplicates
  int shares = 1;
};
/// Parses a text like "3,7,11/16". Returns nullopt if it is invalid.
std::optional<ShareNames> share_names(const std::string& text);

/// Gives each trial to the share with the least work so far, the most expensive trial first, and returns each trial's share.
/// Depends only on the costs and their order, so that every machine gets the same result.
std::vector<int> shared_out(const std::vector<double>& costs, int shares);

/// Returns the relative cost of a trial whose time is unknown: layers times steps times the positions of a batch.
double estimated_cost(const PlannedTrial& trial);

/// @param seconds time of each trial; NaN: unknown, and estimated from the known times
/// @param done keys of done trials
SharesPlan make_shares(const std::string& experiment, const std::vector<const PlannedTrial*>& trials,
                       const std::vector<double>& seconds, const std::set<std::string>& done, int shares);

/// Returns the text of a plan's file for read_shares(). `folder_id`: random id of the plan's shared folder; "": it has none.
std::string shares_document(const SharesPlan& plan, const std::string& folder_id = "");
/// Writes the plan of a shared folder, with a new id of that folder. Throws Error if it cannot be written.
void write_shares(const std::filesystem::path& file, const SharesPlan& plan);
/// Throws Error if the file cannot be read, or is not a plan.
SharesPlan read_shares(const std::filesystem::path& file);

/// Returns the trials of one share, in the grid's order, from all trials of the study. Throws Error, with the plan's path, if
/// the plan does not match `trials`: the study, its data or the code have changed since.
std::vector<const PlannedTrial*> trials_of(const SharesPlan& plan, int index, const std::vector<const PlannedTrial*>& trials,
                                           const std::filesystem::path& file);

/// Digest of a plan's trials and shares.
std::string digest_of(const SharesPlan& plan);

}  // namespace ablate
