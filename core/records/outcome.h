// Possible ends of an attempt at a trial: the only list for scheduler, history, tables, options and their texts.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace ablate {

struct Outcome {
  /// Action of the next run of the same study on a trial whose latest attempt had this outcome.
  enum class Next {
    kNothing,    ///< none: the trial is done
    kAgain,      ///< runs it: the trial did not cause the end, or never began
    kOnceAlone,  ///< runs it once more, without other trials beside it
    kOnRequest   ///< runs it only with --retry
  };

  std::string_view name;  ///< in the history, in tables, in options
  std::string_view told;  ///< verb of a sentence: "attempt 5 timed out"
  bool failed;            ///< counts as failed: in summaries and in the exit code
  bool says_all;          ///< true if a table shows the word without a reason
  Next next;
};

namespace outcome {
inline constexpr std::string_view kDone = "done", kFailed = "failed", kTimeout = "timeout", kStalled = "stalled", kOom = "oom",
                                  kRefused = "refused", kInterrupted = "interrupted", kLost = "lost",
                                  kMissing = "missing";  ///< used only by tables, for a trial without an attempt
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

/// Returns the outcome of this name, or null if the name is unknown: a newer history may have other outcomes.
inline const Outcome* find_outcome(std::string_view name) {
  const auto* const found = std::find_if(kOutcomes.begin(), kOutcomes.end(), [&](const auto& one) { return one.name == name; });
  return found == kOutcomes.end() ? nullptr : found;
}

/// True if an attempt with this outcome counts as failed. An unknown outcome counts, too.
inline bool counts_as_failed(std::string_view name) {
  const auto* const found = find_outcome(name);
  return found == nullptr || found->failed;
}

/// True if an attempt with this outcome counts as a try: the trial itself caused the end. An unknown outcome counts.
inline bool counts_as_try(std::string_view name) {
  const auto* const found = find_outcome(name);
  return found == nullptr || found->next == Outcome::Next::kOnRequest || found->next == Outcome::Next::kOnceAlone;
}

/// Returns the names of the outcomes for which `is` returns true, in the list's order.
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
