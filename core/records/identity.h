// What a trial's key is made of.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/util/sha256.h"

namespace ablate {

/// Of a basis, ablate's own versions: numbers, of which `kernels` may be absent.
inline constexpr const char* kOwnVersions[] = {"runtime", "kernels"};

/// A trial's settings, and the code, data and versions that they are computed with (core/host/scheduler/identity.h makes it of
/// a trial).
struct Identity {
  /// By path: each plugin ("attention.plugin"), the seed, and every value that differs from its default, so
  /// that a new option whose default keeps the old behaviour changes no key. Of a device only its kind: "cuda", whichever it
  /// is.
  nlohmann::json settings;
  /// {"plugins": {"attention": code identity, ...}, "data": digest, "runtime": kRuntimeVersion, "torch": "2.11.0"}, and where
  /// fused forms may run "kernels": kKernelsVersion.
  nlohmann::json basis;
  /// Every value by path, defaults included (all_values). No part of the key; empty where nobody needs it.
  nlohmann::json values = nlohmann::json::object();

  /// 64 hex digits.
  std::string key() const { return sha256("{\"basis\":" + basis.dump() + ",\"settings\":" + settings.dump() + "}"); }
};

/// Every value of a trial by path, as settings name them: what its document says, but as the settings have it where they do (a
/// file's content, a device's kind). @param resolved the trial's document; of anything else come the settings alone
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
