// Files that parameters name, as what the keys were made with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ablate {

/// Made before a factory is called and checked after it: what it has read in between is what the trial's key says. Empty where
/// no value names a file.
class PlannedFiles {
 public:
  /// @param files [{"parameter": "attention.table", "file": absolute path, "digest": SHA-256}]
  /// Throws Error where one is another by now, or is gone: which, what was found and expected, and the remedy.
  explicit PlannedFiles(const nlohmann::json& files);

  /// That they are what they were, and were nothing else meanwhile. Throws Error as above.
  void check() const;

 private:
  struct File {
    std::string parameter, path, digest;
    std::string stamp;  ///< when it was looked at first
  };
  std::vector<File> files_;
};

}  // namespace ablate
