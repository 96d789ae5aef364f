#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ablate {

/// In hex, 64 characters.
std::string sha256(std::string_view data);

/// Of a regular file's content. Throws Error where it cannot be read, or has more than `most` bytes.
std::string sha256_file(const std::filesystem::path& path, std::uintmax_t most = UINTMAX_MAX);

}  // namespace ablate
