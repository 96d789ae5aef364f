#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ablate {

/// In hex, 64 characters.
std::string sha256(std::string_view data);

/// Of a file's content. Throws Error where it cannot be read.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace ablate
