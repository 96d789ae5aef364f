#include "core/host/scheduler/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/shared/evaluations.h"

namespace ablate {
namespace {

ExampleCounts counts_of(const PlannedTrial& trial) {
  const auto& train = trial.trial->spec.train;
  return count_examples({.steps = train.steps,
                         .batch = train.batch,
                         .accumulate = train.accumulate,
                         .evaluate_every = train.evaluate_every,
                         .evaluate_batches = train.evaluate_batches,
                         .test_batches = train.test_batches,
                         .length = trial.window_length,
                         .stride = train.stride,
                         .test_last = train.test_last},
                        trial.dev_size, trial.test_size);
}

}  // namespace

double evaluation_share(const std::vector<const PlannedTrial*>& trials) {
  double share = 0;
  for (const auto* trial : trials) share += counts_of(*trial).evaluation_share();
  return trials.empty() ? 0 : share / static_cast<double>(trials.size());
}

std::string positions_text(const std::vector<const PlannedTrial*>& trials) {
  std::set<std::int64_t> trained, tested;
  std::size_t found = 0;
  for (const auto* trial : trials) {
    if (trial->length <= trial->train_length || trial->trial->spec.model.positions != "learned") continue;
    trained.insert(trial->train_length), tested.insert(trial->length);
    ++found;
  }
  if (found == 0) return "";
  const auto range = [](const std::set<std::int64_t>& of) {
    return of.size() == 1 ? fmt::format("{}", *of.begin()) : fmt::format("{} to {}", *of.begin(), *of.rbegin());
  };
  return fmt::format(
      "positions: {}training uses {} learned positions and the test {}; the test's further positions are untrained "
      "(model.positions = none, rotary or sinusoidal avoids this)",
      found == trials.size() ? "" : fmt::format("in {} of {} trials, ", found, trials.size()), range(trained), range(tested));
}

std::string evaluation_text(const std::vector<const PlannedTrial*>& trials) {
  constexpr const char* kKeys = "train.evaluate_every, train.evaluate_batches, train.test_batches";
  double least = 1, most = 0;
  bool alike = true;
  for (const auto* trial : trials) {
    const auto counts = counts_of(*trial);
    alike = alike && counts == counts_of(*trials.front());
    least = std::min(least, counts.evaluation_share()), most = std::max(most, counts.evaluation_share());
  }
  if (trials.empty()) return "";
  if (!alike) {
    const auto low = fmt::format("{:.0f}", 100 * least), high = fmt::format("{:.0f}", 100 * most);
    return fmt::format("evaluation: about {} % of a trial's time ({})", low == high ? low : low + " to " + high, kKeys);
  }
  const auto counts = counts_of(*trials.front());
  return fmt::format("evaluation: {} x {} dev + {} test examples, about {:.0f} % of a trial's time ({})", counts.evaluations,
                     counts.dev, counts.test, 100 * most, kKeys);
}

}  // namespace ablate
