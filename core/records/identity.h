// What a trial's key is made of.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/util/sha256.h"

namespace ablate {

/// What was chosen, and the code, data and versions that it is computed with (core/host/scheduler/identity.h makes it of a
/// trial).
struct Identity {
  /// By path, what was chosen: each plugin ("attention.plugin"), the seed, and every value that differs from its default, so
  /// that a new option whose default keeps the old behaviour changes no key. Of a device only its kind: "cuda", whichever it
  /// is.
  nlohmann::json settings;
  /// {"plugins": {"attention": code identity, ...}, "data": digest, "runtime": kRuntimeVersion, "torch": "2.11.0"}
  nlohmann::json basis;

  /// 64 hex digits.
  std::string key() const { return sha256(nlohmann::json{{"settings", settings}, {"basis", basis}}.dump()); }
};

}  // namespace ablate
