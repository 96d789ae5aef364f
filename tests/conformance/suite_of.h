// Runs the suite over a plugin of a test, and records the checks that ran and that failed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/device/tensor_memory.h"
#include "tests/support/catch.h"

namespace ablate::tests {

/// Returns the descriptor of one class, as the macros make it.
template <class Made>
Descriptor attention_of(const About& about) {
  auto made = ablate::detail::describe(Kind::kAttention, about);
  made.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
    return std::make_shared<Made>(context);
  };
  return made;
}
template <class Made>
Descriptor compression_of(const About& about) {
  auto made = ablate::detail::describe(Kind::kCompression, about);
  made.make_compression = [](const CompressionContext& context) -> std::shared_ptr<Compression> {
    return std::make_shared<Made>(context);
  };
  return made;
}

inline Candidate candidate_of(const Descriptor& plugin) {
  return make_candidate(plugin, nlohmann::json::object(), find_among({&plugin}));
}

/// @param only names of checks; if empty, all checks run
/// @param stops ends each check at its first fault
inline std::vector<Check> checks_of(const Descriptor& plugin, const std::set<std::string>& only = {}, bool stops = false) {
  static const bool kept = [] {
    keep_freed_memory();  // same as in a trial's worker, otherwise page faults take most of the time
    return true;
  }();
  static_cast<void>(kept);
  Checks checks;
  checks.only(only);
  if (stops) checks.stop_at_first();
  plugin.kind == Kind::kAttention ? check_attention(candidate_of(plugin), Depth::kFull, checks)
                                  : check_compression(candidate_of(plugin), Depth::kFull, checks);
  return checks.all();
}

/// Results of all suites of a test: every check that ran must have failed for some fault.
struct Record {
  std::set<std::string> ran, failed;

  /// Runs the suite and returns the names of the failed checks.
  std::set<std::string> suite(const Descriptor& plugin, const std::set<std::string>& only = {}) {
    std::set<std::string> names;
    for (const auto& check : checks_of(plugin, only, true)) {
      UNSCOPED_INFO(check.name << (check.failed() ? " failed: " : ": ") << check.found);
      // Without a device the check "cuda" is unchecked and does not count as run. device_test.cpp makes it fail.
      if (check.verdict != Verdict::kUnchecked) ran.insert(check.name);
      if (check.failed()) names.insert(check.name);
    }
    failed.insert(names.begin(), names.end());
    return names;
  }
  bool fails(const Descriptor& plugin, const std::string& check) { return suite(plugin, {check}).count(check) == 1; }
};

/// A wrong plugin, and the check that must find it. Each test file adds variants, and every check must fail for a variant.
struct Variant {
  std::string what;
  const Descriptor* plugin;
  std::string check;
};
inline std::vector<Variant>& variants() {
  static std::vector<Variant> all;
  return all;
}
struct AddVariants {
  AddVariants(std::initializer_list<Variant> added) { variants().insert(variants().end(), added); }
};

/// Returns the text of a failed check, or "" if it passed.
inline std::string found(const Descriptor& plugin, const std::string& name) {
  for (const auto& check : checks_of(plugin, {name}))
    if (check.failed()) return check.found;
  return "";
}

inline void check_mentions(const std::string& message, const std::string& expected) {
  INFO("message: " << message << "\nexpected to mention: " << expected);
  CHECK(message.find(expected) != std::string::npos);
}

}  // namespace ablate::tests
