// A grid shared out: which trials belong to which share, as a file that all machines read.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// A trial of a plan.
struct SharedTrial {
  std::string key, label;
  double cost = 0;  ///< what it takes beside the others, in seconds where a history tells; more than 0
  int share = 0;    ///< below SharesPlan::shares; kDoneBefore: the history had it done when the plan was made

  static constexpr int kDoneBefore = -1;
};

struct SharesPlan {
  std::string experiment;
  int shares = 1;                   ///< 1 to kMostShares
  std::vector<SharedTrial> trials;  ///< in the grid's order, each key once

  static constexpr int kMostShares = 100'000;
};

/// Shares of a grid to be computed one after the other, as "3/16" and "3,7,11/16" name them.
struct ShareNames {
  std::vector<int> indexes;  ///< each below `shares`, and different
  int shares = 1;
};
/// Nothing where the text is none.
std::optional<ShareNames> share_names(const std::string& text);

/// Gives each trial to the share that has least to do so far, the dearest first: of costs and their order alone, so that every
/// machine finds the same. @return a share each
std::vector<int> shared_out(const std::vector<double>& costs, int shares);

/// What a trial takes beside others where nothing is known: layers times steps times the positions of a batch.
double estimated_cost(const PlannedTrial& trial);

/// @param seconds a trial each; NaN: not known, and estimated beside those that are @param done keys
SharesPlan make_shares(const std::string& experiment, const std::vector<const PlannedTrial*>& trials,
                       const std::vector<double>& seconds, const std::set<std::string>& done, int shares);

/// Returns the text of a plan's file, which read_shares() reads. @param folder_id random id of the shared folder that holds the
/// plan; "" if the plan is elsewhere
std::string shares_document(const SharesPlan& plan, const std::string& folder_id = "");
/// Writes the plan of a shared folder, with a new id of that folder. Throws Error if it cannot be written.
void write_shares(const std::filesystem::path& file, const SharesPlan& plan);
/// Throws Error: it cannot be read, or is no plan.
SharesPlan read_shares(const std::filesystem::path& file);

/// The trials of one share, in the grid's order. Throws Error where the plan is for others than these: the study, its data or
/// the code were changed since, or the name has another number of shares.
/// @param trials all of the study @param file of the plan, for what is wrong
std::vector<const PlannedTrial*> trials_of(const SharesPlan& plan, int index, const std::vector<const PlannedTrial*>& trials,
                                           const std::filesystem::path& file);

/// What tells a plan from others: trials and shares.
std::string digest_of(const SharesPlan& plan);

}  // namespace ablate
