#include "core/trial/server/task_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/util/error.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 16;      // digits of the code's identity, enough to distinguish codes
constexpr std::size_t kFormerCodes = 3;  // enough for switching between branches

/// True if the path still leads to the opened folder; false if the folder was removed meanwhile.
bool is_there(const fs::path& path, int opened) {
  struct stat there {
  }, own{};
  return stat(path.c_str(), &there) == 0 && fstat(opened, &own) == 0 && there.st_ino == own.st_ino &&
         there.st_dev == own.st_dev;
}

void remove_unused(const fs::path& path) {
  const int opened = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0) return;
  std::error_code ignored;
  if (flock(opened, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, ignored);
  close(opened);
}

/// Removes older entries of a plugin's folder. Plain files come from a former layout without codes.
void remove_former(const fs::path& plugin, const fs::path& own) {
  std::vector<std::pair<fs::file_time_type, fs::path>> others;
  std::error_code failed;
  for (fs::directory_iterator at(plugin, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code gone;
    if (const auto used = at->last_write_time(gone); !gone && at->path() != own) others.emplace_back(used, at->path());
  }
  std::sort(others.rbegin(), others.rend());
  for (std::size_t i = kFormerCodes; i < others.size(); ++i) remove_unused(others[i].second);
}

}  // namespace

TaskCache::TaskCache(const fs::path& plugin, const std::string& code) : path_(plugin / code.substr(0, kDigits)) {
  const auto refuse = [&](const std::string& why) {
    throw Error(
        fmt::format("no folder for its data: {}: {}; set XDG_CACHE_HOME to a folder that can be written", path_.string(), why));
  };
  bool is_new = false;
  for (;;) {
    std::error_code failed;
    is_new = fs::create_directories(path_, failed) || is_new;
    if (failed) refuse(failed.message());
    lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ < 0 && errno != ENOENT) refuse(std::strerror(errno));
    if (lock_ < 0) continue;
    // Goes on without a lock on a file system without locks: remove_unused() gets no lock there, either, and removes nothing.
    while (flock(lock_, LOCK_SH) != 0 && errno == EINTR) continue;
    if (is_there(path_, lock_)) break;
    close(lock_);
  }
  futimens(lock_, nullptr);  // marks the folder as used now
  if (is_new) remove_former(plugin, path_);
}

TaskCache::~TaskCache() { close(lock_); }

}  // namespace ablate
