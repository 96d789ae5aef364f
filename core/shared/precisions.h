// Precisions of training (train.dtype). A new precision needs a line here and the file named in that line:
// core/trial/training/precisions/FILE.cpp. Torch-free.
#pragma once

#include "core/shared/choices.h"

/// Each line: a file and its name, then the fields of a PrecisionInfo.
// clang-format off
#define ABLATE_PRECISIONS(precision)                                                                                \
  precision(float32, .name = "float32", .help = "24 binary digits")                                                 \
  precision(bfloat16, .name = "bfloat16",                                                                           \
            .help = "8 binary digits; the optimiser keeps float32 weights beside it", .half = true)                 \
  precision(mixed, .name = "mixed",                                                                                 \
            .help = "float32, but fused forms multiply in bfloat16, on a CPU that has it", .mixed = true)
// clang-format on

namespace ablate {

struct PrecisionInfo {
  const char *name, *help;
  bool half = false;   ///< true if plugins must promise half_precision
  bool mixed = false;  ///< float32 with mixed products (core/kernels/mixed_products.h) in fused forms on a CPU
  OwnParameters own = {};
};

inline constexpr PrecisionInfo kPrecisions[] = {
#define ABLATE_PRECISION(file, ...) {__VA_ARGS__},
    ABLATE_PRECISIONS(ABLATE_PRECISION)
#undef ABLATE_PRECISION
};

/// Returns the entry of a name. Throws std::invalid_argument if the name is unknown.
inline const PrecisionInfo& precision_info(const std::string& dtype) {
  return kPrecisions[index_of_choice(kPrecisions, dtype)];
}

}  // namespace ablate
