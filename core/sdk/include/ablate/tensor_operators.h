// ATen's operators for tensors (a + b, 1 - a, a > 0), without the 3 s of compiling that ATen's own header costs.
//
// They are templates: if <ATen/TensorOperators.h> is included too, its functions are preferred, and no call is ambiguous.
#pragma once

#include <ATen/core/Tensor.h>

#include <concepts>

#define ABLATE_TENSOR_OPERATOR(op, of_tensors, reversed) \
  template <std::same_as<Tensor> T>                      \
  Tensor operator op(const T& a, const T& b) {           \
    return a.of_tensors(b);                              \
  }                                                      \
  template <std::same_as<Tensor> T>                      \
  Tensor operator op(const T& a, const Scalar& b) {      \
    return a.of_tensors(b);                              \
  }                                                      \
  template <std::same_as<Tensor> T>                      \
  Tensor operator op(const Scalar& a, const T& b) {      \
    return reversed;                                     \
  }

namespace at {  // namespace in which operators of at::Tensor are looked up

ABLATE_TENSOR_OPERATOR(+, add, b.add(a))
ABLATE_TENSOR_OPERATOR(-, sub, b.neg().add(a))
ABLATE_TENSOR_OPERATOR(*, mul, b.mul(a))
ABLATE_TENSOR_OPERATOR(/, div, b.reciprocal().mul(a))
ABLATE_TENSOR_OPERATOR(<, lt, b.gt(a))
ABLATE_TENSOR_OPERATOR(<=, le, b.ge(a))
ABLATE_TENSOR_OPERATOR(>, gt, b.lt(a))
ABLATE_TENSOR_OPERATOR(>=, ge, b.le(a))
ABLATE_TENSOR_OPERATOR(==, eq, b.eq(a))
ABLATE_TENSOR_OPERATOR(!=, ne, b.ne(a))

}  // namespace at

#undef ABLATE_TENSOR_OPERATOR
