// A folder for the data that tasks generate.
#pragma once

#include <stdlib.h>

#include <filesystem>

#include "core/util/error.h"

namespace ablate {

/// Removed when the command ends, whatever became of the plugin.
class Scratch {
 public:
  Scratch() {
    auto pattern = (std::filesystem::temp_directory_path() / "ablate-check.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error("no folder can be made in " + pattern);
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ablate
