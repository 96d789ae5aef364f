// Generated data, kept in the cache folder. Torch-free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ablate {

struct Cached {
  std::vector<std::uint8_t> content;
  std::string digest;  ///< its SHA-256, in hex
};

/// What make() returned the first time that it was asked for. It is kept as NAME-HASH.bin, HASH being the start of the SHA-256
/// of the key: the content, then a SHA-256 of both (32 bytes). The file is written beside its place and renamed, so that no one
/// reads half of it. One that is damaged, or of another key, is made anew, and where none can be written the content is there
/// all the same, with a word on stderr.
/// @param folder TaskContext::cache, which the host keeps apart for each code of a plugin
/// @param name the plugin's id
/// @param key all that the content depends on: parameters, and files' content
Cached cached(const std::filesystem::path& folder, const std::string& name, const std::string& key,
              const std::function<std::vector<std::uint8_t>()>& make);

}  // namespace ablate
