// Norms of the model's layers. A new norm needs a line here and the file named in that line: core/trial/model/norms/FILE.cpp.
// Torch-free.
#pragma once

#include "core/shared/choices.h"

/// Each line: a file and its function, then the fields of a Choice.
// clang-format off
#define ABLATE_NORMS(norm)                                                                                      \
  norm(layer_norm, .name = "layer", .help = "x less its mean over the channels, over its deviation")            \
  norm(rms_norm, .name = "rms", .help = "x over the root of its mean square over the channels; no bias")
// clang-format on

namespace ablate {

inline constexpr Choice kNorms[] = {
#define ABLATE_NORM(file, ...) {__VA_ARGS__},
    ABLATE_NORMS(ABLATE_NORM)
#undef ABLATE_NORM
};

}  // namespace ablate
