// How often a trial evaluates, and what of its work that is. Torch-free; the training loop and the plan of a grid agree by it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ablate {

inline constexpr std::int64_t kDefaultEvaluations = 10;  ///< over a run, where train.evaluate_every is 0

/// Steps between two evaluations on the dev split; the last step is followed by one in any case.
/// @param steps at least 1 @param evaluate_every as in [train], 0 for the default
constexpr std::int64_t steps_between_evaluations(std::int64_t steps, std::int64_t evaluate_every) {
  return evaluate_every > 0 ? evaluate_every : (steps + kDefaultEvaluations - 1) / kDefaultEvaluations;
}

/// Examples that a trial passes through its model.
struct ExampleCounts {
  std::int64_t trained = 0;      ///< forward and backward
  std::int64_t evaluations = 0;  ///< on the dev split
  std::int64_t dev = 0;          ///< in each of them
  std::int64_t test = 0;         ///< with the best weights and with the last ones together

  /// Evaluation's part of the work, in [0, 1]: a forward pass is a third of a training step, whose backward pass takes two.
  double evaluation_share() const {
    const double forward = static_cast<double>(evaluations) * static_cast<double>(dev) + static_cast<double>(test);
    const double all = forward + 3.0 * static_cast<double>(trained);
    return all > 0 ? forward / all : 0;
  }
  bool operator==(const ExampleCounts&) const = default;
};

/// A [train] section's values that say how many examples a trial passes through its model; 0 as in docs/studies.md.
struct EvaluationSettings {
  std::int64_t steps = 1, batch = 1, accumulate = 1, evaluate_every = 0, evaluate_batches = 0, test_batches = 0;
  std::int64_t length = 0, stride = 0;  ///< of the windows that a stream is evaluated by; 0: each of its segments once
  bool test_last = false;
};

/// @param dev_size, test_size examples of the splits, or a stream's segments
constexpr ExampleCounts count_examples(const EvaluationSettings& train, std::int64_t dev_size, std::int64_t test_size) {
  const auto every = steps_between_evaluations(train.steps, train.evaluate_every);
  const auto most = [&](std::int64_t batches, std::int64_t size) {
    const auto taken = batches == 0 ? size : std::min(size, batches * train.batch);
    if (train.stride == 0 || train.stride >= train.length || taken == 0) return taken;
    return 1 + ((taken - 1) * train.length + train.stride - 1) /
                   train.stride;  // windows, the first of which asks for all its positions
  };
  return {.trained = train.steps * train.accumulate * train.batch,
          .evaluations = train.steps / every + (train.steps % every != 0 ? 1 : 0),
          .dev = most(train.evaluate_batches, dev_size),
          .test = (train.test_last ? 2 : 1) * most(train.test_batches, test_size)};
}

}  // namespace ablate
