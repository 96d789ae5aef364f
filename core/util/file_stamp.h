// Detects a changed file without reading it. Torch-free.
#pragma once

#include <filesystem>
#include <string>

namespace ablate {

/// Returns "inode size times" of a file or a folder; "" if it is missing or inaccessible. The second time is the file's change
/// time, which nobody can set. A file that is overwritten and then gets its old time back also has another stamp.
std::string file_stamp(const std::filesystem::path& path);

}  // namespace ablate
