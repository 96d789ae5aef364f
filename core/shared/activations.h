// Activation functions between the two layers of a feed-forward part. A new activation function needs a line here and the file
// named in that line: core/trial/model/activations/FILE.cpp. Torch-free.
#pragma once

#include "core/shared/choices.h"

/// Each line: a file and its function, then the fields of a Choice.
// clang-format off
#define ABLATE_ACTIVATIONS(activation)                                                             \
  activation(gelu, .name = "gelu", .help = "x times the share of a normal distribution below x")   \
  activation(relu, .name = "relu", .help = "x if it is positive, else 0")                          \
  activation(silu, .name = "silu", .help = "x times the logistic function of x: Swish, SiLU")
// clang-format on

namespace ablate {

inline constexpr Choice kActivations[] = {
#define ABLATE_ACTIVATION(file, ...) {__VA_ARGS__},
    ABLATE_ACTIVATIONS(ABLATE_ACTIVATION)
#undef ABLATE_ACTIVATION
};

}  // namespace ablate
