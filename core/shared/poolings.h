// What is pooled of a sequence. A new one is a line here and the file that it names: core/trial/objectives/poolings/FILE.cpp.
// Torch-free: what a study may write and what a worker computes come from this one list.
#pragma once

/// File and function; what a study writes; what it is; whether the model puts a learned token before the sequence for it.
#define ABLATE_POOLINGS(pooling)                                                                       \
  pooling(mean, "mean", "of what is present", false)                                                   \
      pooling(mean_all, "mean-all", "their sum by the padded length, as published code has it", false) \
          pooling(class_token, "cls", "a learned class token put first", true)                         \
              pooling(last, "last", "the last position that is present", false)

namespace ablate {

struct PoolingInfo {
  const char *name, *help;
  bool class_token;
};

inline constexpr PoolingInfo kPoolings[] = {
#define ABLATE_POOLING(file, ...) {__VA_ARGS__},
    ABLATE_POOLINGS(ABLATE_POOLING)
#undef ABLATE_POOLING
};

}  // namespace ablate
