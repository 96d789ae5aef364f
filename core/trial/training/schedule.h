// Learning-rate schedules. Torch-free.
#pragma once

#include <cstdint>
#include <string>

namespace ablate {

/// The factor on the peak learning rate at a step in [1, steps]:
///   constant      min(1, step / warmup)
///   one-cycle     PyTorch's OneCycleLR with linear annealing, as the Nystromformer authors train: from 1/25 up to 1 over the
///                 warm-up, then linearly down to 1/250,000 at the last step
///   cosine        linear warm-up, then half a cosine down to 0
///   inverse-sqrt  linear warm-up, then sqrt(warmup / step) (Long Range Arena: its rate times min(1, s/w) / sqrt(max(s, w)), up
///   to
///                 the constant 1/sqrt(w))
/// Throws std::invalid_argument for another name.
double learning_rate_factor(const std::string& schedule, std::int64_t step, std::int64_t steps, std::int64_t warmup);

}  // namespace ablate
