// Feed-forward parts: functions of a layer that are applied to each position by itself. A new part needs a line here and the
// file named in that line: core/trial/model/feed_forwards/FILE.cpp. Torch-free.
#pragma once

#include "core/shared/choices.h"

/// Each line: a file and its function, then the fields of a Choice.
// clang-format off
#define ABLATE_FEED_FORWARDS(feed_forward)                                                              \
  feed_forward(mlp, .name = "mlp", .help = "linear, the activation, linear")                            \
  feed_forward(gated, .name = "gated",                                                                  \
               .help = "the activation of one linear layer times a second one, then a third; no biases:" \
                       " SwiGLU with silu, GEGLU with gelu")
// clang-format on

namespace ablate {

inline constexpr Choice kFeedForwards[] = {
#define ABLATE_FEED_FORWARD(file, ...) {__VA_ARGS__},
    ABLATE_FEED_FORWARDS(ABLATE_FEED_FORWARD)
#undef ABLATE_FEED_FORWARD
};

}  // namespace ablate
