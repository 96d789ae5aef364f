// A path that tells one file, however it was named.
#pragma once

#include <filesystem>
#include <system_error>

namespace ablate {

/// Absolute and without links, as far as there is something.
inline std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code failed;
  const auto whole = std::filesystem::absolute(path);  // else what is not there stays relative
  auto real = std::filesystem::weakly_canonical(whole, failed);
  return failed || real.empty() ? whole : real;
}

}  // namespace ablate
