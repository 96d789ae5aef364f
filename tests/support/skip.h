// Skips test cases that cannot run on this machine; ctest then shows the program as skipped.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/catch.h"

/// A test program's exit code if no case failed and a case was skipped (SKIP_RETURN_CODE in tests/CMakeLists.txt).
constexpr int kSkipped = 77;

inline std::atomic<bool>& was_skipped() {
  static std::atomic<bool> skipped = false;
  return skipped;
}

/// Prints why the running case cannot run here. The case then returns or continues with other checks. tools/test ends with a
/// list of all lines that begin with "skipped: ". `.ci/run` accepts only lines that name CUDA, this processor or this kernel.
inline void skip(const std::string& why) {
  std::fprintf(stderr, "\nskipped: %s: %s\n", Catch::getResultCapture().getCurrentTestName().c_str(), why.c_str());
  was_skipped() = true;
}

/// Skips a case if a package is missing; fails in tools/test, which installs all packages (ABLATE_ALL_TESTS).
inline void skip_without_package(const std::string& package) {
  if (std::getenv("ABLATE_ALL_TESTS") != nullptr)
    FAIL("the package " << package << " is missing; tools/setup --tests installs it");
  skip("the package " + package + " is missing; tools/setup --tests installs it");
}
