// What texts have in common that differ in numbers alone.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "core/util/one_line.h"

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

/// The group that a failure's reason belongs to: reasons that differ in numbers alone, or far behind, are one.
inline std::string reason_group(std::string_view reason) { return without_numbers(one_line(reason, 200)); }

}  // namespace ablate
