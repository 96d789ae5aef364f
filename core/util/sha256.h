#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ablate {

/// In hex, 64 characters.
std::string sha256(std::string_view data);

/// The first digits of a key or another digest, as messages and lists show it.
inline std::string short_digest(const std::string& digest) { return digest.substr(0, 12); }

/// Of a regular file's content. Throws Error where it cannot be read, or has more than `most` bytes.
/// @param between called before each part of a large file; what it throws ends the reading, as stop_if_asked
/// (core/util/stop_on_signal.h) does
std::string sha256_file(const std::filesystem::path& path, std::uintmax_t most = UINTMAX_MAX, void (*between)() = nullptr);

}  // namespace ablate
