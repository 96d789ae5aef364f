// Text in lines of at most 100 columns.
#pragma once

#include <sstream>
#include <string>

#include "db/report/format.h"

namespace ablate {

/// Wraps one line. Each line but the first begins with `indent` blanks.
/// @param used columns before the text in the first line
inline std::string wrapped(const std::string& text, std::size_t indent, std::size_t used) {
  constexpr std::size_t kWidth = 100;
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) {
    if (used > indent && used + (all.empty() ? 0 : 1) + db::width(word) > kWidth) {
      all += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!all.empty()) {
      all += " ";
      ++used;
    }
    all += word;
    used += db::width(word);
  }
  return all;
}

}  // namespace ablate
