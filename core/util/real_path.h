// A path that identifies a file, whatever name was used.
#pragma once

#include <filesystem>
#include <system_error>

namespace ablate {

/// Returns an absolute path with all existing links resolved.
inline std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path);  // else a missing file's path stays relative
  auto real = std::filesystem::weakly_canonical(whole, failed);
  return failed || real.empty() ? whole : real;
}

}  // namespace ablate
