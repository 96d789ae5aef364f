#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace ablate {

/// Returns the digest in hex, 64 characters.
std::string sha256(std::string_view data);

/// Returns the first digits of a key or another digest, for messages and lists.
inline std::string short_digest(const std::string& digest) { return digest.substr(0, 12); }

/// Returns the digest of a regular file's content. Throws Error if it cannot be read or has more than `most` bytes.
/// @param between called for each part of the file; may throw to end the reading (stop_if_asked of core/util/stop_on_signal.h)
std::string sha256_file(const std::filesystem::path& path, std::uintmax_t most = UINTMAX_MAX, void (*between)() = nullptr);

}  // namespace ablate
