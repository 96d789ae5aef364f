// JSON files in a cache folder. An unreadable file counts as missing, and content that was not written is computed again.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

/// Returns the content of a file, or a discarded value (is_discarded()) if the file is missing or not JSON. Never throws.
nlohmann::json read_json_file(const std::filesystem::path& file);

/// Writes a new file and renames it, so no reader sees half of it. Makes the folder. Best effort.
/// @return why it was not written, "No space left on device"; "" if it was written
std::string put_json_file(const std::filesystem::path& file, const nlohmann::json& content);

}  // namespace ablate
