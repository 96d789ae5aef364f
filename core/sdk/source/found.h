// Error messages about a method's results: they name the method, which torch's messages do not.
#pragma once

#include <c10/util/StringUtil.h>

#include <stdexcept>
#include <string>

#include "ablate/attention.h"

namespace ablate {

inline std::string shape_text(const Tensor& tensor) {
  return c10::str(tensor.scalar_type(), " ", tensor.sizes(), " on ", tensor.device());
}

/// Throws std::runtime_error if a tensor is undefined or has other sizes. Example: `who` is "recur()", `name` is "values".
inline void expect_sizes(const char* who, const char* name, const Tensor& found, IntArrayRef sizes, const char* axes) {
  if (found.defined() && found.sizes() == sizes) return;
  throw std::runtime_error(c10::str(who, " returned ",
                                    found.defined() ? name + (" of " + shape_text(found)) : "no " + std::string(name),
                                    ", expected ", sizes, " (", axes, ")"));
}

/// Throws std::runtime_error if the new state differs from the old one in number, sizes, type or device.
inline void expect_state(const char* who, const AttentionState& found, const AttentionState& before) {
  if (found.size() != before.size())
    throw std::runtime_error(
        c10::str(who, " returned a state of ", found.size(), " tensors, expected ", before.size(), ", as it received"));
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!found[i].defined() || found[i].sizes() != before[i].sizes() || found[i].scalar_type() != before[i].scalar_type() ||
        found[i].device() != before[i].device())
      throw std::runtime_error(c10::str(who, " returned a state whose tensor ", i, " is ",
                                        found[i].defined() ? shape_text(found[i]) : "undefined", ", expected ",
                                        shape_text(before[i]), ", as it received"));
}

}  // namespace ablate
