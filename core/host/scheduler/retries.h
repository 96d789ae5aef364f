// Decides which unfinished trials a run tries again, by the outcomes of their earlier attempts.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/records/outcome.h"

namespace ablate {

/// Choices of --retry: outcomes that are tried again only on request.
std::vector<std::string> retry_choices();

/// Returns how many of these outcomes count as tries (counts_as_try): not done, and caused by the trial itself.
int tries_of(const std::vector<std::string>& past);

struct Retry {
  enum class What { kRuns, kRunsAlone, kIsSetAside };
  What what = What::kRuns;
  std::string outcome;        ///< latest outcome, for kIsSetAside
  bool is_exhausted = false;  ///< true if the key was tried kMostTries times
};

/// Limit of tries of one key over all runs: the first try, and two more.
inline constexpr int kMostTries = 3;

/// @param past outcomes of the key's attempts, the latest last, none of them done
/// @param wanted outcomes named by --retry
Retry retry_of(const std::vector<std::string>& past, const std::set<std::string>& wanted);

/// Numbers of trials that a run sets aside, by reason.
struct SetAside {
  std::map<std::string, int> by_outcome;  ///< --retry OUTCOME tries these again
  int exhausted = 0;                      ///< tried kMostTries times
  int quarantined = 0;                    ///< their plugins failed repeatedly; the next run tries these trials

  int total() const;
  void add(const Retry& one);
  /// "3 failed, 1 timed out"; "" if by_outcome is empty.
  std::string outcomes_text() const;
};

}  // namespace ablate
