// Examples of all splits, and the cache file that holds them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "examples.h"

namespace ablate::listops {

using Checksum = std::array<std::uint8_t, 32>;  ///< SHA-256

struct DataSet {
  Examples examples;                   ///< train, then dev, then test
  std::array<std::uint64_t, 3> sizes;  ///< examples of each
};

/// Of sizes, lengths, answers and symbols: equal for equal splits only.
Checksum checksum(const DataSet& data);
std::string to_hex(std::span<const std::uint8_t> bytes);
/// Of a text, in hex.
std::string sha256(std::string_view text);

/// Cache file, little-endian: "ablistop", version u64, sizes 3 x u64, bytes of symbols u64, lengths u32 each, answers u8 each,
/// symbols (Examples::packed), checksum. Written beside its place and renamed, so that no one reads half a file. Throws
/// std::runtime_error.
/// @param sum checksum(data)
void write_cache(const std::filesystem::path& path, const DataSet& data, const Checksum& sum);

struct Cached {
  DataSet data;
  Checksum sum;
  std::string fault;  ///< "" where the file is whole
};
/// Reads the file and compares its checksum.
Cached read_cache(const std::filesystem::path& path);

}  // namespace ablate::listops
