// Conformance suite of one plugin: the checks that `ablate check` and the tests run.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ablate/plugin.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {

struct Examinee {
  const Descriptor& plugin;
  nlohmann::json parameters = nlohmann::json::object();  ///< the other parameters have their defaults
  /// Plugins to try for parameters that are plugins: every compression, and the first attentions. The plugin is checked with
  /// each of them at small size. Full checks and the cost check use only the first of them.
  std::vector<const Descriptor*> parts = {};
  /// For a task: folder for the files that it makes while it is checked.
  std::filesystem::path scratch = {};
  /// True: checks only the growth of time. Never true in a test: other work disturbs times. False: checks everything else.
  bool timed = false;
  /// True for a quick check between two edits: float64 at small lengths, only with `parameters`.
  bool quick = false;
  /// Device that computes everything: "cpu", "cuda" or "cuda:N". The check "cuda" compares this device with the CPU.
  std::string device = "cpu";
  /// Additional length to check; 0: none. Full depth only.
  std::int64_t length = 0;
  /// For a task: names that its exemptions may use beside the names of checks (core/trial/audit).
  std::vector<std::string> elsewhere = {};
};

/// Returns why no instance can be made with these parameters at the suite's own sizes: the factory's message
/// (std::invalid_argument), or that a part is missing. Returns "" for tasks, if an instance can be made, or for other failures.
std::string refused_parameters(const Examinee& examinee);

/// Runs every check of the plugin's kind. A failure is a failed check, never an exception. A missing part fails "parts".
void check_plugin(const Examinee& examinee, Checks& checks);

}  // namespace ablate
