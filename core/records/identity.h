// The parts of a trial's key.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/util/sha256.h"

namespace ablate {

/// Names of ablate's own versions in a basis. Each value is a number, and `kernels` may be absent.
inline constexpr const char* kOwnVersions[] = {"runtime", "kernels"};

/// A trial's settings, and the code, data and versions that determine its numbers. Made by core/host/scheduler/identity.h.
struct Identity {
  /// By path: each plugin ("attention.plugin"), the seed, and every value that differs from its default. A new option changes
  /// no key if its default keeps the old behaviour. A device is stored only by its kind: "cuda" for any GPU.
  nlohmann::json settings;
  /// {"plugins": {"attention": code identity, ...}, "data": digest, "runtime": kRuntimeVersion, "torch": "2.11.0"}. It also has
  /// "kernels": kKernelsVersion if fused forms may run.
  nlohmann::json basis;
  /// Every value by path, defaults included (all_values). Not a part of the key. Empty if no caller needs it.
  nlohmann::json values = nlohmann::json::object();

  /// Returns the key: 64 hex digits.
  std::string key() const { return sha256("{\"basis\":" + basis.dump() + ",\"settings\":" + settings.dump() + "}"); }
};

/// Returns every value of a trial by path. A value of `settings` replaces the document's value: a file's SHA-256 replaces
/// its path, and a device's kind replaces the device. If `resolved` is not a document, only `settings` remain.
inline nlohmann::json all_values(const nlohmann::json& resolved, const nlohmann::json& settings) {
  auto all = nlohmann::json::object();
  std::vector<std::pair<std::string, const nlohmann::json*>> left{{"", &resolved}};
  while (!left.empty()) {
    const auto [path, value] = left.back();
    left.pop_back();
    const auto below = [&, at = path](const std::string& name) { return at.empty() ? name : at + "." + name; };
    if (value->is_object()) {
      for (const auto& [name, inner] : value->items()) left.emplace_back(below(name), &inner);
    } else if (value->is_array() && !value->empty() && value->front().is_object()) {
      for (std::size_t i = 0; i < value->size(); ++i) left.emplace_back(below(std::to_string(i)), &(*value)[i]);
    } else if (!path.empty()) {
      all[path] = *value;
    }
  }
  if (settings.is_object()) all.update(settings);
  return all;
}

}  // namespace ablate
