// Smallest work for StepGraphs.
#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "core/trial/training/step_graphs.h"

namespace ablate::tests {

/// Adds factor times the sum of a batch to `total`. `calls` counts plain runs and recordings; a replay does not count.
struct Sum {
  Tensor total = at::zeros({1});
  int calls = 0;
  double factor = 1;              ///< a number of the host: a recording keeps its value
  bool waits = false;             ///< true to wait for the device, which cannot be recorded
  std::function<double()> drawn;  ///< if set, gives a new factor each time

  StepWork work() {
    return {.run = [this](const std::vector<Batch>& batches, const Perform& perform, LossPasses*) -> std::optional<double> {
              perform(0, [&] {
                ++calls;
                total.add_(batches.front().fields.front().sum(), drawn ? drawn() : factor);
                if (waits) total.item<double>();
              });
              return 1;
            },
            .tensors = [this] { return std::vector{total}; },
            .generators = {}};
  }
};

inline Batch numbers(std::int64_t count, double value) {
  Batch made{.size = 1};
  made.fields = {at::full({1, count}, value)};
  made.targets = at::zeros({1}, at::kLong);
  return made;
}

}  // namespace ablate::tests
