// Tells a file from what was at its path before, without reading it. Torch-free.
#pragma once

#include <filesystem>
#include <string>

namespace ablate {

/// "inode size times" of a file or a folder; "" where there is none, or it cannot be looked at. The second time is that of its
/// last change, which nobody can set: what is overwritten in place and given its old time back is another file, too.
std::string file_stamp(const std::filesystem::path& path);

}  // namespace ablate
