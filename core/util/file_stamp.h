// Detects a changed file without reading it. Torch-free.
#pragma once

#include <filesystem>
#include <string>

namespace ablate {

/// Returns "inode size times" of a file or a folder; "" if it is missing or inaccessible. The second time is the change time,
/// which nobody can set. So the stamp also changes if a file is overwritten and its modification time is set back.
std::string file_stamp(const std::filesystem::path& path);

}  // namespace ablate
