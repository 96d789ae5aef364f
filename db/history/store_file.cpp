#include "db/history/store_file.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>

#include "core/util/real_path.h"
#include "core/util/stop_on_signal.h"
#include "db/history/errors.h"

namespace ablate::db {
namespace {

/// True if the file on the disk begins with SQLite's magic bytes, or cannot be read for the moment.
bool begins_as_database(SQLite::Database& database) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == nullptr ||
      file->pMethods == nullptr)
    return true;
  std::array<char, kMagic.size()> found{};
  return file->pMethods->xRead(file, found.data(), found.size(), 0) != SQLITE_OK ||
         std::string_view(found.data(), found.size()) == kMagic;
}

constexpr int kBetweenTriesMs = 10, kPatienceAskedToStopMs = 200;

/// @return 0 to stop waiting
int wait(void* milliseconds, int tries) {
  const auto most = reinterpret_cast<std::intptr_t>(milliseconds);
  if (tries * kBetweenTriesMs >= (asked_to_stop != 0 ? std::min<std::intptr_t>(most, kPatienceAskedToStopMs) : most)) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(kBetweenTriesMs));
  return 1;
}

}  // namespace

void set_patience(SQLite::Database& database, int milliseconds) {
  sqlite3_busy_handler(database.getHandle(), wait, reinterpret_cast<void*>(static_cast<std::intptr_t>(milliseconds)));
}

bool OpenedFile::has_own_log() const {
  struct stat log {};
  return log_ != 0 && stat((path_.string() + "-wal").c_str(), &log) == 0 && log.st_ino == log_;
}

OpenedFile::OpenedFile(const std::filesystem::path& file) : path_(real_path(file)) {
  struct stat found {};
  if (stat(path_.c_str(), &found) != 0) throw Gone(fmt::format("{} was removed while it was opened", path_.string()));
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

bool OpenedFile::is_there() const {
  struct stat found {};
  return stat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

void OpenedFile::expect_there(SQLite::Database& database) {
  struct stat found {
  }, log{};
  const char* what = nullptr;
  const bool has_log = stat((path_.string() + "-wal").c_str(), &log) == 0;
  if (log_ == 0 && has_log) log_ = log.st_ino;
  if (stat(path_.c_str(), &found) != 0)
    what = "was removed or moved";
  else if (found.st_dev != device_ || found.st_ino != inode_)
    what = "was replaced by another file";
  else if (found.st_size == 0)
    what = "was emptied";
  else if (!begins_as_database(database))
    what = "was overwritten";
  else if (log_ != 0 && (!has_log || log.st_ino != log_))
    what = "lost its write-ahead log (-wal)";
  if (what != nullptr)
    throw Gone(fmt::format("{} {} since it was opened: nothing more can be recorded there", path_.string(), what));
}

}  // namespace ablate::db
