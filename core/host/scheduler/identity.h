// What a trial's key is made of. Torch-free.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/host/study/study.h"

namespace ablate {

struct Identity {
  /// By path, what was chosen: each plugin ("attention.plugin"), the seed, and every value that differs from its default, so
  /// that a new option whose default keeps the old behaviour changes no key. Of a device only its kind: "cuda", whichever it
  /// is.
  nlohmann::json settings;
  /// {"plugins": {"attention": code identity, ...}, "data": digest, "runtime": kRuntimeVersion, "torch": "2.11.0"}
  nlohmann::json basis;

  std::string key() const;  ///< 64 hex digits
};

/// @param files SHA-256 of the files that values name, by path: in a key a file is its content
/// @param data_digest Task::digest
Identity identity_of(const TrialSpec& trial, const std::map<std::string, std::string>& files, const Catalog& catalog,
                     const std::string& data_digest, const std::string& torch_version);

/// What tells two of them apart, each in words: "the code of attention adamra", "train.steps (10, was 20)", "the data".
std::vector<std::string> differences(const Identity& now, const Identity& before);

}  // namespace ablate
