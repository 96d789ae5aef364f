// Types that a study may train in. A new one is a line here. Torch-free: what a study may write and what a worker computes in
// come from this one list.
#pragma once

/// Torch's ScalarType; what a study writes.
#define ABLATE_DTYPES(dtype) dtype(Float, "float32") dtype(BFloat16, "bfloat16")

namespace ablate {

struct DtypeInfo {
  const char* name;
};

inline constexpr DtypeInfo kDtypes[] = {
#define ABLATE_DTYPE(type, name) {name},
    ABLATE_DTYPES(ABLATE_DTYPE)
#undef ABLATE_DTYPE
};

}  // namespace ablate
