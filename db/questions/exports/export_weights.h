// An attempt's kept weights, for other programs.
#pragma once

#include <string>

#include "db/history/reader.h"
#include "db/report/printers.h"

namespace ablate::db {

/// The file that was kept of an attempt, as safetensors: its tensors as they are, and in __metadata__ (texts) attempt, uid,
/// key, experiments (names with commas between), settings (the trial's resolved study point, JSON), code ({plugin: code
/// identity}, JSON) and torch.
class WeightsFile {
 public:
  /// @param name as find_attempt takes it; of a trial's key its latest attempt that has kept weights. Throws Error: no such
  /// attempt, no kept weights, a file that is gone or is no safetensors file.
  WeightsFile(const Reader& reader, const std::string& name);

  /// Throws Error where the file cannot be read to its end, and what `write` throws.
  void write(const Write& write) const;

 private:
  std::filesystem::path file_;
  std::string header_;       ///< JSON
  std::uintmax_t data_ = 0;  ///< where the tensors begin in the file
};

}  // namespace ablate::db
