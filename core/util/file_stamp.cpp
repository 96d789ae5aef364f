#include "core/util/file_stamp.h"

#include <sys/stat.h>

namespace ablate {

std::string file_stamp(const std::filesystem::path& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) return "";
  std::string stamp = std::to_string(s.st_ino) + ' ' + std::to_string(s.st_size);
  for (const auto& time : {s.st_mtim, s.st_ctim})
    stamp += ' ' + std::to_string(time.tv_sec) + '.' + std::to_string(time.tv_nsec);
  return stamp;
}

}  // namespace ablate
