// Tensors in a file that others read, too: safetensors (8 bytes, little-endian: the header's length; the header, JSON; the
// tensors' bytes, row-major, one behind the other). https://github.com/huggingface/safetensors#format
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ablate {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Writes them whole or not at all, with the folder where there is none. A tensor of another device comes through memory alone.
/// @param tensors of different names; floating, integer or bool Throws Error: a type that the format does not have, a file that
/// cannot be written.
void write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors);

}  // namespace ablate
