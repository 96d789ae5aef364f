// The plugin folders that a user has named, for the command to type next.
#pragma once

#include <string>
#include <vector>

#include "core/util/shell_word.h"

namespace ablate {

/// " --plugins build --plugins 'my plugins'", for the end of a command that is to find the same plugins; "" for none.
inline std::string plugin_options(const std::vector<std::string>& folders) {
  std::string text;
  for (const auto& folder : folders) text += " --plugins " + shell_word(folder);
  return text;
}

}  // namespace ablate
