// Examples of all splits, and their stored form.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "examples.h"

namespace ablate::listops {

struct DataSet {
  Examples examples;                   ///< train, then dev, then test
  std::array<std::uint64_t, 3> sizes;  ///< sizes of the three splits
};

/// Returns the stored form, little-endian: "ablistop", version u64, sizes 3 x u64, bytes of symbols u64, lengths u32 each,
/// answers u8 each, symbols (Examples::packed).
std::vector<std::uint8_t> to_bytes(const DataSet& data);
/// Reads the bytes of to_bytes(). Does not validate them, because cached() compares their checksum.
DataSet from_bytes(std::span<const std::uint8_t> bytes);

/// Digest of the bytes of to_bytes(): equal only for equal splits.
std::string digest(const DataSet& data);

}  // namespace ablate::listops
