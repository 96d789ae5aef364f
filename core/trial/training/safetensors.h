// Safetensors files, which other programs can read: 8 bytes with the header's length, little-endian; the header, JSON; the
// tensors' bytes, row-major, one tensor after the other. https://github.com/huggingface/safetensors#format
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ablate {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Writes the file whole or not at all, and makes its folder if it is missing. Copies tensors from other devices to the host,
/// one at a time. Throws Error for a type that the format does not have, and for a file that cannot be written.
/// @param tensors with different names, of floating-point, integer or boolean types
void write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors);

}  // namespace ablate
