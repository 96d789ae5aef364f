// What the conformance suite has said of plugins, stored in the cache folder by their code. Torch-free.
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
  std::string verdict = "unchecked";   ///< "passed", "failed", or "unchecked": nobody has looked
  std::vector<std::string> failed;     ///< names of the checks that failed, each once; "padding on cuda"
  std::vector<std::string> unchecked;  ///< of those that could not run there: "cuda"
  bool timed = true;                   ///< whether how time grows was among the checks
  std::int64_t checked_s = 0;          ///< seconds since 1970, UTC: of the latest check on any device
  CheckedLengths lengths = {};         ///< none: not known

  bool passed() const { return verdict == "passed"; }
  bool has_failed() const { return verdict == "failed"; }
  /// "padding, gradient"; "" where none failed.
  std::string failed_text() const;
};

/// What a verdict belongs to: an edit makes it another plugin.
struct PluginCode {
  std::string kind, id, identity;  ///< identity: PluginInfo::code_identity
};

inline PluginCode code_of(const PluginInfo& info) { return {to_text(info.kind), info.id, info.code_identity()}; }

/// One small file for each plugin's code and kind of device, written whole. A verdict holds for this suite, runtime, SDK and
/// torch. What cannot be read, or is none of these files, is as if it were not there.
class VerdictMemory {
 public:
  /// @param folder "": nothing is stored
  explicit VerdictMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Of all devices: failed where it failed on any. `timed`, `unchecked` and `lengths` are the CPU's where it was checked
  /// there.
  StoredVerdict find(const PluginCode& code) const;

  /// Of a full check at default parameters. What a check leaves out, timing or a length, stays as an earlier one found it. Best
  /// effort: what cannot be written is checked again. @param device "cpu" or "cuda", whichever of them
  /// @return why it is not stored, with the folder; "" where it is, or where there is no folder
  std::string put(const PluginCode& code, const std::string& device, StoredVerdict verdict) const;

 private:
  std::filesystem::path path_of(const PluginCode& code, const std::string& device) const;
  std::optional<StoredVerdict> read(const PluginCode& code, const std::string& device) const;

  std::filesystem::path folder_;
};

/// The user's own, in cache_folder().
VerdictMemory user_verdicts();

}  // namespace ablate
