// Instances of plugins from their descriptors: what the training loop and the conformance suite both build with.
#pragma once

#include <nlohmann/json.hpp>

#include "ablate/attention.h"
#include "ablate/compression.h"
#include "ablate/plugin.h"

namespace ablate {

/// A plugin and its resolved parameters ({"heads": 2, ...}; "plugin" may be among them).
struct Chosen {
  const Descriptor* descriptor = nullptr;
  nlohmann::json parameters = nlohmann::json::object();
};

/// A plugin with the defaults of its schema, changed by `parameters` (checked). Throws Error.
Chosen with_defaults(const Descriptor& descriptor, const nlohmann::json& parameters = nlohmann::json::object());

/// A CPU generator of its own, seeded.
torch::Generator make_generator(std::uint64_t seed);

std::shared_ptr<Compression> make_compression(const Chosen& plugin, Rate rate, std::int64_t heads, std::int64_t d_head,
                                              std::int64_t max_length, torch::Generator generator);

struct AttentionShape {
  std::int64_t d_model;
  std::int64_t max_length;
  bool causal = false;
};

/// @param compression the compression plugin for an attention that takes one; its descriptor may be null for the others.
std::shared_ptr<Attention> make_attention(const Chosen& plugin, const Chosen& compression, AttentionShape shape,
                                          torch::Generator generator);

/// Moves a module. Floating-point parameters and buffers also get the type; what counts or points (integers, truth values)
/// keeps its own, where torch's Module::to would round 16,777,217 to float32.
void move_to(torch::nn::Module& module, c10::Device device, torch::Dtype type);

}  // namespace ablate
