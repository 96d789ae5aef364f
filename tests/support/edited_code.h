// Edits a plugin's library: its code identity changes, and its computation stays the same.
#pragma once

#include "tests/support/catch.h"
#include "tests/support/process.h"

/// Fills the code identity of a library with one character.
inline void edit_code(const std::filesystem::path& library, char with) {
  const auto section = library.string() + ".section";
  REQUIRE(Process({"objcopy", "--dump-section", ".ablate.code=" + section, library.string(), "/dev/null"}).wait().exit_code ==
          0);
  const auto text = read_text(section);
  std::ofstream(section) << std::string(64, with) << text.substr(64);
  REQUIRE(Process({"objcopy", "--update-section", ".ablate.code=" + section, library.string()}).wait().exit_code == 0);
  std::filesystem::remove(section);
}
