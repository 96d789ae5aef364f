// Tells a file from what was at its path before, without reading it. Torch-free.
#pragma once

#include <filesystem>
#include <string>

namespace ablate {

/// "inode size time" of a file or a folder; "" where there is none, or it cannot be looked at.
std::string file_stamp(const std::filesystem::path& path);

}  // namespace ablate
