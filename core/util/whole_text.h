// A file's whole text, of a file that is known to be no larger than memory takes.
#pragma once

#include <string>

#include "core/util/regular_file.h"

namespace ablate {

/// From where the file is read to, to the end that it had when it was opened; shorter where it was cut since. Throws Error.
inline std::string whole_text(RegularFile& file) {
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  std::size_t size = 0;
  for (std::size_t read = 1; read > 0 && size < text.size(); size += read)
    read = file.read(text.data() + size, text.size() - size);
  text.resize(size);
  return text;
}

}  // namespace ablate
