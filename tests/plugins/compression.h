// The compression plugins of this build, loaded as a worker loads them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/registry/library.h"
#include "core/trial/model/instances.h"

namespace ablate::test {

inline Chosen compression(const std::string& id, const nlohmann::json& parameters = nlohmann::json::object()) {
  return with_defaults(load_library(std::string(ABLATE_BUILD_DIR "/lib/ablate/plugins/") + id + ".so"), parameters);
}

/// In float64 and evaluation mode. @param seed of its buffers and parameters
inline std::shared_ptr<Compression> make(const Chosen& plugin, Rate rate, std::int64_t heads, std::int64_t d_head,
                                         std::int64_t max_length, std::uint64_t seed = 1) {
  auto result = make_compression(plugin, rate, heads, d_head, max_length, make_generator(seed));
  result->to(torch::kDouble);
  result->eval();
  return result;
}

inline torch::Tensor normal(at::IntArrayRef shape, std::uint64_t seed) {
  return torch::randn(shape, make_generator(seed), torch::kDouble);
}

inline torch::Tensor mask_of(std::int64_t length, const std::vector<std::int64_t>& lengths) {
  return torch::arange(length).unsqueeze(0) < torch::tensor(lengths, torch::kLong).unsqueeze(1);
}

inline double distance(const torch::Tensor& a, const torch::Tensor& b) {
  return (a.detach() - b.detach()).abs().max().item<double>();
}

}  // namespace ablate::test
