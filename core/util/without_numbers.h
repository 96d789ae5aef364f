// Compares texts that differ only in numbers.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

#include "core/util/one_line.h"

namespace ablate {

/// Returns "loss is nan at step #": each run of digits becomes one #.
inline std::string without_numbers(std::string_view text) {
  std::string common;
  for (const char c : text)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0)
      common += c;
    else if (common.empty() || common.back() != '#')
      common += '#';
  return common;
}

/// Returns the group of a failure's reason. Reasons in a group differ only in numbers, or after their first 200 bytes.
inline std::string reason_group(std::string_view reason) { return without_numbers(one_line(reason, 200)); }

}  // namespace ablate
