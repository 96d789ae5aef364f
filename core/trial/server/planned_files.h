// Checks that the files named by parameters still have the content that is in the trial's key.
#pragma once

#include <string>
#include <vector>

#include "core/shared/jobs.h"

namespace ablate {

/// Check of files around a factory's call: make the object before the call, and call check() after it. If neither throws, the
/// factory has read the content that is in the trial's key. Checks nothing if no value names a file.
class PlannedFiles {
 public:
  /// Throws Error if a file has changed or is missing, with its path, what was found and expected, and the remedy.
  explicit PlannedFiles(const std::vector<PlannedFile>& files);

  /// Throws the same Error. Also throws Error if a file was written to, even if its old content is back.
  void check() const;

 private:
  struct Stamped {
    PlannedFile file;
    std::string stamp;  ///< file_stamp when this object was made
  };
  std::vector<Stamped> files_;
};

}  // namespace ablate
