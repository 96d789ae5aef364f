// The conformance suite of one plugin: all that `ablate check` and the tests run.
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
  nlohmann::json parameters = nlohmann::json::object();  ///< the others have their defaults
  /// What its parameters that are plugins are tried with: every compression, and the first attentions. The plugin is checked
  /// with each at small size, and in full with the first, as is what it costs.
  std::vector<const Descriptor*> parts = {};
  /// Of a task: a folder for what it makes while it is checked.
  std::filesystem::path scratch = {};
  /// How time grows, and nothing else: what runs beside it disturbs it. Else everything but that. Never in a test.
  bool timed = false;
  /// For an edit loop: float64 at small lengths, and no parameter but the defaults.
  bool quick = false;
  /// "cpu", or "cuda" or "cuda:N": where all of it computes; the check "cuda" compares that device with the CPU.
  std::string device = "cpu";
  /// Length that is looked at, too; 0: none. Full depth only.
  std::int64_t length = 0;
  /// Of a task: names that its exemptions may have beside those of checks (core/trial/audit).
  std::vector<std::string> elsewhere = {};
};

/// Why no instance can be made with these parameters at the suite's own sizes, in the factory's words (std::invalid_argument),
/// or why there is no such part; "" where one can, where the factory does worse than to say why, and for tasks.
std::string refused_parameters(const Examinee& examinee);

/// Runs every check of the plugin's kind. What fails is a failed check, never an exception; a part that it needs and that is
/// not there fails "parts".
void check_plugin(const Examinee& examinee, Checks& checks);

}  // namespace ablate
