// Poolings of a sequence. A new pooling needs a line here and the file named in that line:
// core/trial/objectives/poolings/FILE.cpp. Torch-free. The values that a study may write and the poolings of a worker come only
// from this list.
#pragma once

#include "core/shared/choices.h"

/// Each line: a file and its function, then the fields of a PoolingInfo.
// clang-format off
#define ABLATE_POOLINGS(pooling)                                                                                              \
  pooling(mean, .name = "mean", .help = "mean of the present positions")                                                      \
  pooling(mean_all, .name = "mean-all", .help = "sum of the present positions over the padded length, as in published code")  \
  pooling(class_token, .name = "cls", .help = "a learned class token put first", .class_token = true)                         \
  pooling(last, .name = "last", .help = "the last present position")
// clang-format on

namespace ablate {

struct PoolingInfo {
  const char *name, *help;
  bool class_token = false;  ///< true if the model puts a learned token before the sequence
  OwnParameters own = {};
};

inline constexpr PoolingInfo kPoolings[] = {
#define ABLATE_POOLING(file, ...) {__VA_ARGS__},
    ABLATE_POOLINGS(ABLATE_POOLING)
#undef ABLATE_POOLING
};

}  // namespace ablate
