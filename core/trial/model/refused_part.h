// What a factory refuses, and which part of what was to be made it belongs to.
#pragma once

#include <stdexcept>
#include <string>

namespace ablate {

/// A factory's std::invalid_argument: a value that does not fit its place. make_attention throws it.
struct RefusedPart : std::invalid_argument {
  RefusedPart(std::string part, const std::string& why) : std::invalid_argument(why), path(std::move(part)) {}
  std::string path;  ///< of the part that refuses, below the section that was to be made: "", "parts.0", "parts.0.compression"
};

}  // namespace ablate
