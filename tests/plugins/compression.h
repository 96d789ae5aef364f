// Compressions, and functions that write and read them.
#pragma once

#include "tests/plugins/module.h"

namespace ablate::test {

/// Makes a compression in float64 and evaluation mode.
/// @param seed seed of its buffers and parameters
inline std::shared_ptr<Compression> make(const nlohmann::json& section, Slots slots, std::int64_t heads, std::int64_t d_head,
                                         std::int64_t max_length, std::uint64_t seed = 1) {
  return in_double(
      make_compression(plugin_from_json(section), slots, heads, d_head, max_length, find_plugin, make_generator(seed)));
}

inline Memory write(Compression& compression, const Tensor& keys, const Tensor& values, const Tensor& mask = {},
                    const Memory* held = nullptr) {
  return compression.write({.keys = keys, .values = values, .mask = mask, .held = held, .generator = make_generator(1)});
}

inline Tensor read(Compression& compression, const Tensor& queries, const Memory& memory,
                   Similarity similarity = Similarity::kSoftmax) {
  return compression.read({.queries = queries, .memory = memory, .similarity = similarity}).values;
}

}  // namespace ablate::test
