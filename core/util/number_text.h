// Numbers that people write in options.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace ablate {

/// The number that the whole text is, infinite and NaN included, as strtod reads it; nothing where it is none.
inline std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' ? std::optional(number) : std::nullopt;
}

}  // namespace ablate
