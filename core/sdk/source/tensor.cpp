#include "ablate/tensor.h"

#include <ATen/ops/cat.h>

namespace ablate {

Tensor cat(TensorList tensors, std::int64_t dim) { return at::cat(tensors, dim); }

}  // namespace ablate
