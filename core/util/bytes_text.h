// Sizes for people.
#pragma once

#include <cstdint>
#include <string>

namespace ablate {

/// "5 GiB", "3.2 MiB".
std::string bytes_text(std::uintmax_t bytes);

}  // namespace ablate
