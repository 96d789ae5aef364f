// Attentions and compressions of the plugins in the build folder, made as the host makes them, and random numbers for them.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/registry/library.h"
#include "core/trial/model/instances.h"

namespace ablate::test {

inline const Descriptor& plugin(const std::string& id) {
  return load_library(std::string(ABLATE_BUILD_DIR "/lib/ablate/plugins/") + id + ".so");
}
inline const Descriptor& find_plugin(Kind, const std::string& id) { return plugin(id); }

/// Returns a plugin's section, with the defaults of its schema.
inline nlohmann::json section(const std::string& id, const nlohmann::json& parameters = nlohmann::json::object()) {
  return complete_section(plugin(id), parameters, find_plugin);
}

/// Returns the promises of a plugin with these parameters.
inline Capabilities promised_by(const nlohmann::json& section, Kind kind = Kind::kAttention) {
  return promises_of(kind, plugin_from_json(section), find_plugin);
}

/// Returns a parameter or a buffer: the registered tensor itself.
inline Tensor entry(const std::vector<Module::Entry>& entries, const std::string& name) {
  for (const auto& entry : entries)
    if (entry.name == name) return entry.tensor;
  return {};
}
inline Tensor parameter(const Module& module, const std::string& name) { return entry(module.parameters(), name); }
inline Tensor buffer(const Module& module, const std::string& name) { return entry(module.buffers(), name); }

/// Moves a module to float64 and sets its evaluation mode.
template <class M>
std::shared_ptr<M> in_double(std::shared_ptr<M> module) {
  move_to(*module, at::kCPU, kDouble);
  module->eval();
  return module;
}

inline Tensor normal(IntArrayRef shape, std::uint64_t seed) { return randn(shape, make_generator(seed), kDouble); }

/// Returns [items, n] bool: true for the first lengths[i] tokens of item i.
inline Tensor mask_of(std::int64_t n, const std::vector<std::int64_t>& lengths) {
  return arange(n).unsqueeze(0) < integers(lengths).unsqueeze(1);
}

/// Returns the largest absolute difference; infinity if a or b has a NaN.
inline double distance(const Tensor& a, const Tensor& b) {
  const auto most = (a.detach() - b.detach()).abs().max().item<double>();
  return std::isnan(most) ? INFINITY : most;
}

}  // namespace ablate::test
