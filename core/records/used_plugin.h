// A plugin as an attempt used it.
#pragma once

#include <string>

namespace ablate {

/// What the conformance suite has said of a plugin's code (docs/checks.md).
struct PluginVerdict {
  std::string verdict = "unchecked";  ///< "passed", "failed", or "unchecked": nobody has looked
  std::string failed_checks;          ///< "padding, gradient"; "" where none failed
};

struct UsedPlugin {
  std::string kind, id, version, code_identity, content_hash, path;
  PluginVerdict verdict = {};  ///< as it was known when the attempt started
};

}  // namespace ablate
