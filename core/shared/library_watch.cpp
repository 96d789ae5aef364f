#include "core/shared/library_watch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "core/registry/abi_check.h"
#include "core/util/error.h"
#include "core/util/sha256.h"

namespace ablate {

LibraryWatch::File LibraryWatch::look(const std::filesystem::path& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) return {};
  return {fmt::format("{} {}", s.st_dev, s.st_ino), fmt::format("{} {}.{:09} {}.{:09}", s.st_size, s.st_mtim.tv_sec,
                                                                s.st_mtim.tv_nsec, s.st_ctim.tv_sec, s.st_ctim.tv_nsec)};
}

void LibraryWatch::remember(const std::vector<UsedPlugin>& plugins) {
  for (const auto& plugin : plugins) files_[plugin.path] = look(plugin.path);
}

std::string LibraryWatch::overwritten(const std::vector<UsedPlugin>& plugins) {
  for (const auto& plugin : plugins) {
    auto& file = files_[plugin.path];
    const auto now = look(plugin.path);
    if (now.inode == file.inode && now.stamp != file.stamp) {
      // Perhaps the file was only touched, or its mode or links changed. So the content decides if the file is spoilt.
      file.stamp = now.stamp;
      try {
        file.spoilt = file.spoilt || sha256_file(plugin.path, kMostLibraryBytes) != plugin.content_hash;
      } catch (const Error&) {
        file.spoilt = true;  // not readable any more, so its content is unknown
      }
    }
    if (file.spoilt)
      return fmt::format(
          "{} was overwritten while it ran, so its results do not count; run the command again, and replace libraries by "
          "renaming new files",
          plugin.path);
  }
  return "";
}

std::vector<std::string> LibraryWatch::newly_replaced(const std::vector<UsedPlugin>& plugins) {
  std::vector<std::string> found;
  for (const auto& plugin : plugins) {
    auto& file = files_[plugin.path];
    if (file.reported || look(plugin.path).inode == file.inode) continue;
    file.reported = true;
    found.push_back(plugin.path);
  }
  return found;
}

}  // namespace ablate
