// PyTorch's OneCycleLR with linear annealing, as the Nystromformer authors use it: from 1/25 up to 1 over the warm-up, then
// linearly down to 1/250,000 at the last step. beta1 is lowest when the rate is highest: OneCycleLR's option cycle_momentum.
#include "core/shared/schedules.h"

namespace ablate::schedules {

StepRate one_cycle(const RunStep& step) {
  constexpr double kStart = 1.0 / 25, kEnd = kStart / 1e4;
  if (step.at < step.warmup)
    return {kStart + (1 - kStart) * (step.at - 1) / (step.warmup - 1), (step.at - 1) / (step.warmup - 1)};
  return {1 + (kEnd - 1) * step.after(), 1 - step.after()};
}

}  // namespace ablate::schedules
