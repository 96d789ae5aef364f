// A path that tells one file, however it was named.
#pragma once

#include <filesystem>
#include <system_error>

namespace ablate {

/// Absolute and without links, as far as there is something.
inline std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code failed;
  auto real = std::filesystem::weakly_canonical(path, failed);
  return failed || real.empty() ? std::filesystem::absolute(path) : real;
}

}  // namespace ablate
