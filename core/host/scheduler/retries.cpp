#include "core/host/scheduler/retries.h"

#include <fmt/format.h>

#include <algorithm>

namespace ablate {

std::vector<std::string> retry_choices() {
  return outcome_names([](const Outcome& one) { return counts_as_try(one.name); });
}

int tries_of(const std::vector<std::string>& past) {
  return static_cast<int>(std::count_if(past.begin(), past.end(), [](const auto& name) { return counts_as_try(name); }));
}

Retry retry_of(const std::vector<std::string>& past, const std::set<std::string>& wanted) {
  if (past.empty()) return {};
  const auto* const latest = find_outcome(past.back());
  const auto next = latest == nullptr ? Outcome::Next::kOnRequest : latest->next;
  if (next == Outcome::Next::kNothing) return {};
  const auto of_memory = std::count(past.begin(), past.end(), outcome::kOom);
  const auto name = latest == nullptr ? std::string(outcome::kFailed) : past.back();  // unknown outcomes count as failed
  if (tries_of(past) >= kMostTries) return {Retry::What::kIsSetAside, name, true};
  // A trial whose memory did not suffice beside others runs alone, whatever ended it later.
  auto runs = Retry{of_memory > 0 ? Retry::What::kRunsAlone : Retry::What::kRuns};
  const bool once_alone = next == Outcome::Next::kOnceAlone && of_memory == 1;
  if (next == Outcome::Next::kAgain || once_alone || wanted.contains(name)) return runs;
  return {Retry::What::kIsSetAside, name};
}

int SetAside::total() const {
  int sum = exhausted + quarantined;
  for (const auto& [outcome, count] : by_outcome) sum += count;
  return sum;
}

void SetAside::add(const Retry& one) {
  if (one.is_exhausted)
    ++exhausted;
  else
    ++by_outcome[one.outcome];
}

std::string SetAside::outcomes_text() const {
  std::string text;
  for (const auto& [name, count] : by_outcome) {
    const auto* const outcome = find_outcome(name);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, outcome == nullptr ? name : std::string(outcome->told));
  }
  return text;
}

}  // namespace ablate
