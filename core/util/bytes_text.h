// Sizes for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ablate {

/// "5 GiB", "3.2 MiB".
std::string bytes_text(std::uintmax_t bytes);

/// "1.5G", "512 MiB", "800000000": bytes; k, M, G and T are powers of 1024, with or without "B" or "iB" behind. Nothing for
/// another text, and for less than a byte.
std::optional<std::int64_t> bytes_of(const std::string& text);

}  // namespace ablate
