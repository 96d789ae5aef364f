#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ablate::pathfinder {

/// The pixels of a grey PNG file of eight bits, [side, side] row by row (libpng). Throws FileError: no such file, no PNG file,
/// cut off or damaged, in colour, of another size.
std::vector<std::uint8_t> read_png(const std::filesystem::path& path, std::int64_t side);

}  // namespace ablate::pathfinder
