// Small answers in files of a cache folder: what cannot be read is not there, what cannot be written is asked again.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

/// What a file holds; discarded (is_discarded()) where there is none, or no JSON. Throws nothing.
nlohmann::json read_json_file(const std::filesystem::path& file);

/// Best effort, in a file of its own that then takes the name, so that no reader sees half of it. Makes the folder.
/// @return why it is not written, "No space left on device"; "" where it is
std::string put_json_file(const std::filesystem::path& file, const nlohmann::json& content);

}  // namespace ablate
