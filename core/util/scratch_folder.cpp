#include "core/util/scratch_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "core/util/error.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "ablate-scratch.";

/// Opens a folder, but not through a link; -1 if that fails. No other program inherits the descriptor.
int open_folder(const fs::path& path) { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

bool is_at(int folder, const fs::path& path) {
  struct stat opened {
  }, named{};
  return fstat(folder, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/// Removes a folder under its lock. A process that has just made the folder waits for the lock, then finds the folder gone.
void remove_abandoned(const fs::path& path) {
  const int folder = open_folder(path);
  if (folder < 0) return;
  struct stat found {};
  if (fstat(folder, &found) == 0 && found.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  close(folder);
}

void remove_all_abandoned(const fs::path& among) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(among, ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (entry->path().filename().string().starts_with(kPrefix)) found.push_back(entry->path());
  for (const auto& path : found) remove_abandoned(path);
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& where) {
  std::error_code none;
  const auto among = where.empty() ? fs::temp_directory_path(none) : where;
  const auto refuse = [&](const std::string& why) {
    throw Error("no temporary folder can be made in " + among.string() + ": " + why + " (set TMPDIR to use another folder)");
  };
  if (none) refuse(none.message());
  remove_all_abandoned(among);
  while (lock_ < 0) {
    auto pattern = (among / kPrefix).string() + "XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) refuse(std::strerror(errno));
    path_ = pattern;
    lock_ = open_folder(path_);
    if (lock_ < 0 && errno != ENOENT) refuse(std::strerror(errno));
    if (lock_ < 0) continue;
    flock(lock_, LOCK_EX);
    if (is_at(lock_, path_)) break;
    close(lock_), lock_ = -1;  // another process removed it as abandoned before it was locked
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  close(lock_);
}

}  // namespace ablate
