// What texts have in common that differ in numbers alone.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace ablate {

/// "loss is nan at step #": each run of digits is one #.
inline std::string without_numbers(std::string_view text) {
  std::string common;
  for (const char c : text)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      common += c;
    else if (common.empty() || common.back() != '#')
      common += '#';
  return common;
}

}  // namespace ablate
