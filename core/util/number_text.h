// Numbers that people write in options.
#pragma once

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace ablate {

/// The number that the whole text is but for blanks around it, infinite and NaN included, as strtod reads it; nothing where it
/// is none, and of one in hexadecimal.
inline std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_decimal = end != text.c_str() && text.find_first_of("xX") == std::string::npos;
  return is_decimal && end[std::strspn(end, " \t\r\n")] == '\0' ? std::optional(number) : std::nullopt;
}

}  // namespace ablate
