// Makes instances of plugins from their specs, for training and for the conformance suite.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ablate/attention.h"
#include "ablate/compression.h"
#include "ablate/plugin.h"
#include "core/registry/values.h"

namespace ablate {

/// Function that returns the descriptor of a loaded plugin. Throws Error (ExitCode::kPlugin) if the plugin is not loaded.
using FindPlugin = std::function<const Descriptor&(Kind kind, const std::string& id)>;

/// Returns a plugin's section, {"plugin": "softmax", "heads": 2}: the defaults of its schema, changed by `parameters`. Checks
/// all values, and completes the plugins among them in the same way. Throws Error.
nlohmann::json complete_section(const Descriptor& descriptor, const nlohmann::json& parameters, const FindPlugin& find);

/// Returns the promises of a plugin with its parameters and the plugins among them. Throws Error.
Capabilities promises_of(Kind kind, const PluginSpec& plugin, const FindPlugin& find);

/// Returns a new CPU generator with this seed.
Generator make_generator(std::uint64_t seed);

/// Tensors that layers share, owned by the model. The key is the path of the part that made the tensor: "parts.0.E", or
/// "1.parts.0.E" in a list of attentions.
using SharedTensors = std::map<std::string, Tensor>;

/// Place of an attention, with the fields of AttentionContext.
struct AttentionPlace {
  std::int64_t d_model = 0, width = 0;  ///< width 0: d_model
  std::int64_t max_length = 0, train_length = 0, prefix = 0;
  std::int64_t layer = 0, layers = 1;
  bool causal = false, carries = false;
  double dropout = 0;
  bool fused = true;
  Positions positions = Positions::kNone;
  Geometry geometry;
};

/// Makes an attention with the plugins among its parameters. Throws Error if an attention does not promise all that the place
/// requires, and rethrows exceptions of the factories.
/// @param path prefix for an attention in a list: "1.". Layers share tensors only with layers of the same path
std::shared_ptr<Attention> make_attention(const PluginSpec& plugin, const AttentionPlace& place, const FindPlugin& find,
                                          const Generator& generator, SharedTensors& shared, const std::string& path = "");

std::shared_ptr<Compression> make_compression(const PluginSpec& plugin, Slots slots, std::int64_t heads, std::int64_t d_head,
                                              std::int64_t max_length, const FindPlugin& find, const Generator& generator);

/// Moves a module in place, so that copies of its tensors refer to the moved ones. Floating-point parameters and buffers also
/// get the type, unless they are never cast (Kept). Integers and booleans keep their type.
void move_to(Module& module, c10::Device device, at::ScalarType type);

}  // namespace ablate
