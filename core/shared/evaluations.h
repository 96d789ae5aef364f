// Number of a trial's evaluations, and their share of the trial's work. Torch-free. For the training loop and a grid's plan.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ablate {

inline constexpr std::int64_t kDefaultEvaluations = 10;  ///< in a trial, if train.evaluate_every is 0

/// Returns the steps between two evaluations on the dev split. The last step is always followed by an evaluation.
/// @param steps at least 1
/// @param evaluate_every value of train.evaluate_every; 0 for the default
constexpr std::int64_t steps_between_evaluations(std::int64_t steps, std::int64_t evaluate_every) {
  return evaluate_every > 0 ? evaluate_every : (steps + kDefaultEvaluations - 1) / kDefaultEvaluations;
}

/// Numbers of examples that a trial passes through its model, and of its evaluations.
struct ExampleCounts {
  std::int64_t trained = 0;      ///< training examples, each with a forward and a backward pass
  std::int64_t evaluations = 0;  ///< number of evaluations on the dev split
  std::int64_t dev = 0;          ///< examples of each evaluation
  std::int64_t test = 0;         ///< test examples, for the best and the last weights together

  /// Returns the share of evaluation and test in the work, in [0, 1]. A forward pass is a third of the work of a training step.
  double evaluation_share() const {
    const double forward = static_cast<double>(evaluations) * static_cast<double>(dev) + static_cast<double>(test);
    const double all = forward + 3.0 * static_cast<double>(trained);
    return all > 0 ? forward / all : 0;
  }
  bool operator==(const ExampleCounts&) const = default;
};

/// Settings that determine how many examples a trial passes through its model. docs/studies.md explains the meaning of 0.
struct EvaluationSettings {
  std::int64_t steps = 1, batch = 1, accumulate = 1, evaluate_every = 0, evaluate_batches = 0, test_batches = 0;
  std::int64_t length = 0, stride = 0;  ///< windows in which a stream is evaluated; stride 0: each segment is read once
  bool test_last = false;
};

/// @param dev_size, test_size numbers of examples in the splits; of segments if the task is a stream
constexpr ExampleCounts count_examples(const EvaluationSettings& train, std::int64_t dev_size, std::int64_t test_size) {
  const auto every = steps_between_evaluations(train.steps, train.evaluate_every);
  const auto most = [&](std::int64_t batches, std::int64_t size) {
    const auto taken = batches == 0 ? size : std::min(size, batches * train.batch);
    if (train.stride == 0 || train.stride >= train.length || taken == 0) return taken;
    return 1 + ((taken - 1) * train.length + train.stride - 1) /
                   train.stride;  // windows; in the first window, all positions are scored
  };
  return {.trained = train.steps * train.accumulate * train.batch,
          .evaluations = train.steps / every + (train.steps % every != 0 ? 1 : 0),
          .dev = most(train.evaluate_batches, dev_size),
          .test = (train.test_last ? 2 : 1) * most(train.test_batches, test_size)};
}

}  // namespace ablate
