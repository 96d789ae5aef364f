// A TOML file as text.
#pragma once

#include <filesystem>
#include <string>

namespace ablate {

/// Of a regular file of at most 4 MiB. @param what it should be, for a message: "a study". Throws ConfigError.
std::string read_toml(const std::filesystem::path& file, const std::string& what);

}  // namespace ablate
