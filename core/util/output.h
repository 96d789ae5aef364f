// Writing for people: what cannot be written must never end what is being done.
#pragma once

#include <cstdio>
#include <string_view>

namespace ablate {

/// Writes and flushes. A full disk, a closed terminal or a closed descriptor changes nothing. Throws nothing.
/// @return whether all of it was written
bool write_text(std::FILE* to, std::string_view text) noexcept;

}  // namespace ablate
