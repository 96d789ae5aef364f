// Sizes in bytes as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ablate {

/// Returns "5 GiB", "3.2 MiB".
std::string bytes_text(std::uintmax_t bytes);

/// Parses "1.5G", "512 MiB", "800000000" to bytes. k, M, G and T are powers of 1024, with or without "B" or "iB" behind.
/// Returns nullopt for another text, or for less than a byte.
std::optional<std::int64_t> bytes_of(const std::string& text);

}  // namespace ablate
