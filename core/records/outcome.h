// How an attempt at a trial may end: the one list for scheduler, history, tables, options and their texts.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ablate {

struct Outcome {
  /// What the next run of the same study does with a trial whose latest attempt ended so.
  enum class Next {
    kNothing,    ///< it is done
    kAgain,      ///< runs it: what ended it was not the trial, or it never began
    kOnceAlone,  ///< runs it once more beside no other
    kOnRequest   ///< runs it with --retry alone
  };

  std::string_view name;  ///< in the history, in tables, in options
  std::string_view told;  ///< "attempt 5 timed out"
  bool failed;            ///< counts as failed: in summaries and in the exit code
  bool says_all;          ///< a table shows the word without a reason
  Next next;
};

namespace outcome {
inline constexpr std::string_view kDone = "done", kFailed = "failed", kTimeout = "timeout", kStalled = "stalled", kOom = "oom",
                                  kRefused = "refused", kInterrupted = "interrupted", kLost = "lost",
                                  kMissing = "missing";  ///< of a trial that has no attempt: tables alone say it
}  // namespace outcome

inline constexpr std::array kOutcomes = {
    Outcome{outcome::kDone, "is done", false, true, Outcome::Next::kNothing},
    Outcome{outcome::kFailed, "failed", true, false, Outcome::Next::kOnRequest},
    Outcome{outcome::kTimeout, "timed out", true, true, Outcome::Next::kOnRequest},
    Outcome{outcome::kStalled, "stalled", true, true, Outcome::Next::kOnRequest},
    Outcome{outcome::kOom, "ran out of memory", true, true, Outcome::Next::kOnceAlone},
    Outcome{outcome::kRefused, "was refused", true, false, Outcome::Next::kAgain},
    Outcome{outcome::kInterrupted, "was interrupted", false, true, Outcome::Next::kAgain},
    Outcome{outcome::kLost, "was lost with its worker", false, true, Outcome::Next::kAgain},
};

/// Null for a text that is none: a newer history may have others.
inline const Outcome* find_outcome(std::string_view name) {
  const auto* const found = std::find_if(kOutcomes.begin(), kOutcomes.end(), [&](const auto& one) { return one.name == name; });
  return found == kOutcomes.end() ? nullptr : found;
}

/// Whether an attempt that ended so counts as failed. What nobody knows does.
inline bool counts_as_failed(std::string_view name) {
  const auto* const found = find_outcome(name);
  return found == nullptr || found->failed;
}

/// Whether an attempt that ended so is one of its trial's tries: the trial itself has ended it. What nobody knows is one.
inline bool counts_as_try(std::string_view name) {
  const auto* const found = find_outcome(name);
  return found == nullptr || found->next == Outcome::Next::kOnRequest || found->next == Outcome::Next::kOnceAlone;
}

/// The names of those that `is` holds of, in the list's order.
template <class Is>
std::vector<std::string> outcome_names(Is is) {
  std::vector<std::string> names;
  for (const auto& one : kOutcomes)
    if (is(one)) names.emplace_back(one.name);
  return names;
}
inline std::vector<std::string> outcome_names() {
  return outcome_names([](const Outcome&) { return true; });
}

}  // namespace ablate
