#include "db/opened_file.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <string_view>

#include "db/errors.h"

namespace ablate::db {
namespace {

/// Whether the file on the disk begins as SQLite's do; true where it cannot be read for the moment.
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

}  // namespace

OpenedFile::OpenedFile(const std::filesystem::path& file) : path_(std::filesystem::absolute(file)) {
  struct stat found {};
  if (stat(path_.c_str(), &found) != 0) throw Gone(fmt::format("{} was removed while it was opened", path_.string()));
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

void OpenedFile::expect_there(SQLite::Database& database) const {
  struct stat found {};
  const char* what = nullptr;
  if (stat(path_.c_str(), &found) != 0)
    what = "was removed or moved";
  else if (found.st_dev != device_ || found.st_ino != inode_)
    what = "was replaced by another file";
  else if (found.st_size == 0)
    what = "was emptied";
  else if (!begins_as_database(database))
    what = "was overwritten";
  if (what != nullptr)
    throw Gone(fmt::format("{} {} since it was opened: nothing more can be recorded there", path_.string(), what));
}

}  // namespace ablate::db
