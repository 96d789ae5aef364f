// Removes blanks around a text.
#pragma once

#include <string>

namespace ablate {

/// Returns "" if the text is blank. `blanks` are the characters that count as blanks.
inline std::string trimmed(const std::string& text, const char* blanks = " \t\n") {
  const auto from = text.find_first_not_of(blanks), to = text.find_last_not_of(blanks);
  return from == std::string::npos ? "" : text.substr(from, to + 1 - from);
}

}  // namespace ablate
