// Whose fault it is where an attention fails with a plugin among its parameters: its own, that plugin's, or that of the two.
#pragma once

#include <map>
#include <tuple>

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/check.h"

namespace ablate {

/// Every check of the candidate's kind but time.
void check_candidate(const Candidate& candidate, Depth depth, Checks& checks);

class Blame {
 public:
  /// @param all the candidates of one plugin, with other plugins among its parameters each; outlives this
  explicit Blame(const std::vector<Candidate>& all) : all_(all) {}

  /// Of a check that failed. With every other candidate it fails, too: it is the plugin's own. Else, where a part fails by
  /// itself, the check is that part's, and unchecked here; and where all parts are right alone, check.part names them.
  void judge(const Candidate& candidate, Depth depth, Check& check);

 private:
  /// What of the checks of that name fails; "" where none does.
  const std::string& fault(const Candidate& candidate, Depth depth, const std::string& check);

  const std::vector<Candidate>& all_;
  std::map<std::tuple<std::string, Depth, std::string>, std::string> known_;
};

}  // namespace ablate
