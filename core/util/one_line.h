// Texts of plugins (an exception's what(), what a trial printed) in messages of the host.
#pragma once

#include <string>
#include <string_view>

namespace ablate {

/// The beginning of a text as one line: control characters become blanks, several blanks one, so that it can neither break a
/// table nor steer a terminal. At most `most` bytes; a character of UTF-8 that is cut at either end is left out.
inline std::string one_line(std::string_view text, std::size_t most = 2000) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (!text.empty() && continues(text.front())) text.remove_prefix(1);
  const bool cut = text.size() > most;
  if (cut) {
    while (most > 0 && continues(text[most])) --most;
    text = text.substr(0, most);
  }
  std::string line;
  for (const char c : text) {
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return cut ? line + "..." : line;
}

}  // namespace ablate
