#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ablate::pathfinder {

/// Returns the pixels of an 8-bit grey PNG file, [side, side] by rows (libpng). Throws FileError if the file is missing, not a
/// PNG file, cut off, damaged, in colour or of another size.
std::vector<std::uint8_t> read_png(const std::filesystem::path& path, std::int64_t side);

}  // namespace ablate::pathfinder
