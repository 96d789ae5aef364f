// Texts without the blanks around them.
#pragma once

#include <string>

namespace ablate {

/// "" where there is nothing else. @param blanks the characters that count as such
inline std::string trimmed(const std::string& text, const char* blanks = " \t\n") {
  const auto from = text.find_first_not_of(blanks), to = text.find_last_not_of(blanks);
  return from == std::string::npos ? "" : text.substr(from, to + 1 - from);
}

}  // namespace ablate
