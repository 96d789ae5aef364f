// Texts of plugins (an exception's what(), output of a trial) in messages of the host.
#pragma once

#include <string>
#include <string_view>

#include "core/util/plain_text.h"

namespace ablate {

/// Returns the beginning of a text as one line. Control characters become blanks, and several blanks become one blank, so the
/// line can neither break a table nor steer a terminal. Invisible characters are shown (with_invisible_shown). Uses at most
/// `most` bytes of the text. A UTF-8 character that is cut at either end is left out.
inline std::string one_line(std::string_view text, std::size_t most = 2000) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (!text.empty() && continues(text.front())) text.remove_prefix(1);
  const bool cut = text.size() > most;
  if (cut) {
    while (most > 0 && continues(text[most])) --most;
    text = text.substr(0, most);
  }
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto control = control_at(text.substr(i));
    if (control == 0 && text[i] != ' ')
      line += text[i];
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
    if (control > 1) i += control - 1;
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return with_invisible_shown(cut ? line + "..." : line);
}

}  // namespace ablate
