// Texts as words of commands, to paste into a shell.
#pragma once

#include <string>

namespace ablate {

/// Returns the text as one word of a POSIX shell, quoted only if necessary. Characters that a terminal does not show
/// (control_at, invisible_at) are written as bytes in $'...', so that the line still names this file when pasted.
std::string shell_word(const std::string& text);

}  // namespace ablate
