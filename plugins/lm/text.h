// The bytes of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::lm {

/// @param data as find_data (ablate/data_files.h) has it: a file, or a folder with enwik8, enwik8.gz, enwik8_first10M or
/// enwik8_first10M.gz in it, the first of them that is there. Throws std::runtime_error with everything that was looked for and
/// what to do.
std::filesystem::path find_text(const std::string& data);

/// The first bytes of a file, plain or gzipped. @param bytes 0: all of them. Throws std::runtime_error where there are fewer,
/// or where the file cannot be read.
std::vector<std::uint8_t> read_text(const std::filesystem::path& path, std::int64_t bytes);

}  // namespace ablate::lm
