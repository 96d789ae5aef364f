// Optimisers. A new optimiser needs a line here and the file named in that line: core/trial/training/optimizers/FILE.cpp.
// Torch-free. The values that a study may write and the optimisers of a worker come only from this list.
#pragma once

#include "core/shared/choices.h"

/// Each line: a file and its function, then the fields of an OptimizerInfo.
// clang-format off
#define ABLATE_OPTIMIZERS(optimizer)                                                                                        \
  optimizer(adamw, .name = "adamw", .help = "Loshchilov and Hutter 2019", .refuse = optimizers::beta1_rises,                \
    .own = {real("beta1", "0.9", {0, 0.999999}, "AdamW's decay of the gradient's average"),                                 \
            when("schedule = one-cycle", real("beta1_low", "0", {0, 0.999999},                                              \
                 "beta1 at the peak of the one-cycle schedule: beta1 falls while the rate rises, then rises again; 0: "     \
                 "beta1 stays")),                                                                                           \
            real("beta2", "0.999", {0, 0.999999}, "AdamW's decay of the squared gradient's average"),                       \
            real("epsilon", "1e-6", {1e-16, 1}, "AdamW's denominator term")})                                               \
  optimizer(sgd, .name = "sgd", .help = "stochastic gradient descent with momentum",                                        \
    .own = {real("momentum", "0.9", {0, 0.999999}, "SGD multiplies its sum of gradients by this at each step; 0: no momentum")})
// clang-format on

namespace ablate {

namespace optimizers {
std::optional<Misfit> beta1_rises(const TrainSpec& train);  ///< core/shared/optimizers/adamw.cpp
}  // namespace optimizers

struct OptimizerInfo {
  const char *name, *help;
  Refuse refuse = nullptr;
  OwnParameters own = {};
};

inline constexpr OptimizerInfo kOptimizers[] = {
#define ABLATE_OPTIMIZER(file, ...) {__VA_ARGS__},
    ABLATE_OPTIMIZERS(ABLATE_OPTIMIZER)
#undef ABLATE_OPTIMIZER
};

}  // namespace ablate
