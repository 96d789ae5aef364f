// Texts that a terminal shows as they are.
#pragma once

#include <string>
#include <string_view>

namespace ablate {

/// Why a text cannot stand in a line of output: "holds a control character, and is to be one line", "is no UTF-8"; "" where it
/// can. Escape sequences begin with a control character, in one byte or as U+0080 to U+009F.
std::string line_refusal(std::string_view text);

}  // namespace ablate
