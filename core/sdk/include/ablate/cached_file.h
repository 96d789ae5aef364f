// Generated data, stored in the cache folder. Torch-free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ablate {

struct Cached {
  std::vector<std::uint8_t> content;
  std::string digest;  ///< SHA-256 of the content, in hex
};

/// Returns the stored result of make(), and calls make() the first time. The file is NAME-HASH.bin, with HASH the start of the
/// key's SHA-256. It holds the content, then a SHA-256 of key and content (32 bytes). It is written under a temporary name and
/// renamed, so no process reads half a file. A file that is damaged or has another key is made again. If writing fails, the
/// content is returned all the same and stderr gets a message.
/// @param folder TaskContext::cache, which the host separates for each code identity of a plugin
/// @param name the plugin's id
/// @param key all inputs that the content depends on: parameters, and the content of files
Cached cached(const std::filesystem::path& folder, const std::string& name, const std::string& key,
              const std::function<std::vector<std::uint8_t>()>& make);

}  // namespace ablate
