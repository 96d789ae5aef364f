// Texts in commands that a person can paste into a shell.
#pragma once

#include <string>

namespace ablate {

/// The text as one word of a POSIX shell, with quotes only where they are needed.
std::string shell_word(const std::string& text);

}  // namespace ablate
