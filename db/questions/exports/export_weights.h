// Exports an attempt's kept weights for other programs.
#pragma once

#include <string>

#include "db/history/reader.h"
#include "db/report/printers.h"

namespace ablate::db {

/// Kept weights of an attempt as a safetensors file. The tensors are unchanged. __metadata__ (texts) has attempt, uid, key,
/// experiments (names separated by commas), settings (the trial's resolved study point, JSON), code ({plugin: code identity},
/// JSON) and torch.
class WeightsFile {
 public:
  /// Throws Error if the attempt is unknown or has no kept weights, or if the file is missing or no safetensors file.
  /// @param name number of an attempt, or first digits of a trial's key: the trial's latest attempt with kept weights counts
  WeightsFile(const Reader& reader, const std::string& name);

  /// Throws Error if the file cannot be read completely, and passes exceptions of `write` on.
  void write(const Write& write) const;

 private:
  std::filesystem::path file_;
  std::string header_;       ///< JSON
  std::uintmax_t data_ = 0;  ///< position of the tensors in the file
};

}  // namespace ablate::db
