// Types that a study may train in. A new one is a line here. Torch-free: what a study may write and what a worker computes in
// come from this one list.
#pragma once

#include "core/shared/choices.h"

/// Torch's ScalarType; a Choice.
// clang-format off
#define ABLATE_DTYPES(dtype)                                                                                  \
  dtype(Float, .name = "float32", .help = "24 binary digits")                                                 \
  dtype(BFloat16, .name = "bfloat16", .help = "8 binary digits; the optimiser keeps float32 weights beside it")
// clang-format on

namespace ablate {

inline constexpr Choice kDtypes[] = {
#define ABLATE_DTYPE(type, ...) {__VA_ARGS__},
    ABLATE_DTYPES(ABLATE_DTYPE)
#undef ABLATE_DTYPE
};

}  // namespace ablate
