#include "core/util/file_stamp.h"

#include <sys/stat.h>

namespace ablate {

std::string file_stamp(const std::filesystem::path& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) return "";
  return std::to_string(s.st_ino) + ' ' + std::to_string(s.st_size) + ' ' + std::to_string(s.st_mtim.tv_sec) + '.' +
         std::to_string(s.st_mtim.tv_nsec);
}

}  // namespace ablate
