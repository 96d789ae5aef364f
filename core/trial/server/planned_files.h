// Files that parameters name, as what the keys were made with.
#pragma once

#include <string>
#include <vector>

#include "core/shared/jobs.h"

namespace ablate {

/// Made before a factory is called and checked after it: what it has read in between is what the trial's key says. Empty where
/// no value names a file.
class PlannedFiles {
 public:
  /// Throws Error where one is another by now, or is gone: which, what was found and expected, and the remedy.
  explicit PlannedFiles(const std::vector<PlannedFile>& files);

  /// That they are what they were, and were nothing else meanwhile. Throws Error as above.
  void check() const;

 private:
  struct Seen {
    PlannedFile file;
    std::string stamp;  ///< when it was looked at first
  };
  std::vector<Seen> files_;
};

}  // namespace ablate
