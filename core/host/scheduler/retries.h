// Which trials that are not done a run tries again, by how their earlier attempts ended.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/records/outcome.h"

namespace ablate {

/// What --retry names: outcomes that are tried again on request alone.
std::vector<std::string> retry_choices();

/// Of attempts that ended so, how many are tries: neither done nor ended by what was not the trial's fault.
int tries_of(const std::vector<std::string>& past);

struct Retry {
  enum class What { kRuns, kRunsAlone, kIsSetAside };
  What what = What::kRuns;
  std::string outcome;        ///< of kIsSetAside: the latest
  bool is_exhausted = false;  ///< it was tried as often as a trial is
};

/// Tries that may fail of one key, over all runs: the first one, and two more.
inline constexpr int kMostTries = 3;

/// @param past outcomes of the key's attempts, the latest last; done: none @param wanted what --retry named
Retry retry_of(const std::vector<std::string>& past, const std::set<std::string>& wanted);

/// Trials that a run leaves alone, by why.
struct SetAside {
  std::map<std::string, int> by_outcome;  ///< --retry OUTCOME tries these again
  int exhausted = 0;                      ///< were tried kMostTries times
  int quarantined = 0;                    ///< their plugins failed again and again; the next run tries them

  int total() const;
  void add(const Retry& one);
  /// "3 failed, 1 timed out"; "" for none of by_outcome.
  std::string outcomes_text() const;
};

}  // namespace ablate
