// The conformance suite of one plugin: all that `ablate check` and the tests run.
#pragma once

#include <filesystem>
#include <vector>

#include "core/trial/conformance/check.h"
#include "core/trial/model/instances.h"

namespace ablate {

struct Examinee {
  Chosen plugin;
  /// For an attention that takes one: it is checked with each of them, what it costs with the first.
  std::vector<Chosen> compressions;
  /// Of a task: a folder for what it makes while it is checked.
  std::filesystem::path scratch;
  /// Whether time is measured; never in a test.
  bool timed = false;
};

/// Runs every check of the plugin's kind. What fails is a failed check, never an exception.
void check_plugin(const Examinee& examinee, Checks& checks);

}  // namespace ablate
