// Refusal of a part by its factory, with the path of the part.
#pragma once

#include <stdexcept>
#include <string>

namespace ablate {

/// A factory's std::invalid_argument: a value that does not fit its place. make_attention throws it.
struct RefusedPart : std::invalid_argument {
  RefusedPart(std::string part, const std::string& why) : std::invalid_argument(why), path(std::move(part)) {}
  std::string path;  ///< path of the refusing part below the section being made: "", "parts.0", "parts.0.compression"
};

}  // namespace ablate
