// Numbers in options.
#pragma once

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace ablate {

/// Parses a whole text as a decimal number, as strtod reads it (infinity and NaN included). Blanks may surround the number.
/// Returns nullopt for any other text and for hexadecimal numbers.
inline std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_decimal = end != text.c_str() && text.find_first_of("xX") == std::string::npos;
  return is_decimal && end[std::strspn(end, " \t\r\n")] == '\0' ? std::optional(number) : std::nullopt;
}

}  // namespace ablate
