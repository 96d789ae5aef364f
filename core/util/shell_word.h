// Texts in commands that a person can paste into a shell.
#pragma once

#include <string>

namespace ablate {

/// The text as one word of a POSIX shell, with quotes only where they are needed. What a terminal would not show as it is
/// (control_at, invisible_at) stands in $'...' by its bytes, so that the line, printed and pasted, names the same file.
std::string shell_word(const std::string& text);

}  // namespace ablate
