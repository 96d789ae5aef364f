// A compression whose every answer is looked at before it reaches an attention.
#pragma once

#include <memory>
#include <string>

#include "ablate/compression.h"

namespace ablate {

/// The same module (its parameters, buffers and children, by the same names), whose write() and read() throw Error for a tensor
/// that the contract excludes: what torch would broadcast or promote in silence, or refuse without naming the plugin. Looks at
/// shapes, types and devices only, which costs no synchronisation.
std::shared_ptr<Compression> checked(std::shared_ptr<Compression> compression, const std::string& id, Rate rate,
                                     bool slots_have_keys);

}  // namespace ablate
