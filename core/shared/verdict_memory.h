// Verdicts of the conformance suite on plugins, stored in the cache folder. A plugin's code identity is the key. Torch-free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/records/used_plugin.h"
#include "core/registry/plugin_info.h"

namespace ablate {

struct StoredVerdict {
  std::string verdict = "unchecked";   ///< "passed", "failed", or "unchecked": the suite has not run
  std::vector<std::string> failed;     ///< names of the checks that failed, each once; "padding on cuda"
  std::vector<std::string> unchecked;  ///< names of checks that could not run on the device: "cuda"
  bool timed = true;                   ///< true if the check "time" ran, which --no-timing leaves out
  std::int64_t checked_s = 0;          ///< time of the latest check on any device, in seconds since 1970, UTC
  CheckedLengths lengths = {};         ///< empty: unknown

  bool passed() const { return verdict == "passed"; }
  bool has_failed() const { return verdict == "failed"; }
  /// "padding, gradient"; "" if none failed.
  std::string failed_text() const;
};

/// Code that a verdict belongs to. An edited plugin has another identity, and so no verdict yet.
struct PluginCode {
  std::string kind, id, identity;  ///< identity: PluginInfo::code_identity
};

inline PluginCode code_of(const PluginInfo& info) { return {to_text(info.kind), info.id, info.code_identity()}; }

/// Folder with one small file for each plugin's code and kind of device, written whole or not at all. A verdict is valid only
/// for one version of suite, runtime, SDK and torch. A file that cannot be read or parsed counts as missing.
class VerdictMemory {
 public:
  /// @param folder "": nothing is stored
  explicit VerdictMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Returns the verdict over all devices: failed if the plugin failed on any device. `timed`, `unchecked` and `lengths` come
  /// from the CPU's verdict, if there is one.
  StoredVerdict find(const PluginCode& code) const;

  /// Stores the verdict of a full check at default parameters, for `device`: "cpu", or "cuda" for any GPU. If the check left
  /// out timing or a length, an earlier result for it stays. Without a stored verdict the plugin is checked again later.
  /// @return reason why the verdict is not stored, with the folder; "" if it is stored or there is no folder
  std::string put(const PluginCode& code, const std::string& device, StoredVerdict verdict) const;

 private:
  std::filesystem::path path_of(const PluginCode& code, const std::string& device) const;
  std::optional<StoredVerdict> read(const PluginCode& code, const std::string& device) const;

  std::filesystem::path folder_;
};

/// Verdicts of the user, in cache_folder().
VerdictMemory user_verdicts();

}  // namespace ablate
