// Files that the suite writes itself: where one cannot be written, no plugin is to blame.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace ablate {

/// The suite cannot look, and why: a check that throws it is unchecked.
struct CannotLook : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What `act` gives, which touches no files but the suite's own. Throws CannotLook where the file system refuses.
template <class Act>
auto on_own_files(const Act& act) {
  try {
    return act();
  } catch (const std::filesystem::filesystem_error& error) {
    throw CannotLook(std::string("a file of the suite's own cannot be written (TMPDIR names the folder): ") + error.what());
  }
}

}  // namespace ablate
