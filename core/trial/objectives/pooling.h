// One vector of a sequence: what the option `pooling` names.
#pragma once

#include "ablate/tensor.h"
#include "core/shared/poolings.h"

namespace ablate {

/// @param x [rows, positions, channels] @param mask [rows, positions] bool, true = something stands there; undefined:
/// everywhere
/// @return [rows, channels]
using Pool = Tensor (*)(const Tensor& x, const Tensor& mask);

/// Each pooling's, in its own file.
namespace poolings {
#define ABLATE_POOLING(file, ...) Tensor file(const Tensor& x, const Tensor& mask);
ABLATE_POOLINGS(ABLATE_POOLING)
#undef ABLATE_POOLING
}  // namespace poolings

/// @param pooling one of kPoolings
inline Pool pool_of(const PoolingInfo* pooling) {
  constexpr Pool kAll[] = {
#define ABLATE_POOLING(file, ...) poolings::file,
      ABLATE_POOLINGS(ABLATE_POOLING)
#undef ABLATE_POOLING
  };
  return kAll[pooling - kPoolings];
}

}  // namespace ablate
