#include "db/place.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "db/errors.h"

namespace ablate::db {
namespace {

const char* kind(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

void check_place(const std::filesystem::path& file) {
  const auto name = file.string();
  if (name.empty() || name == ":memory:" || name.starts_with("file:"))
    throw Error(fmt::format("\"{}\" is no place for a run history: {} (--db FILE or ABLATE_DB)", name,
                            name.starts_with("file:") ? "expected a file's path, not a URI"
                                                      : "it would be lost at the end, expected a file's path"));
  struct stat found {};
  if (stat(name.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
    throw Error(
        fmt::format("{} is {}: expected the file of a run history (--db FILE or ABLATE_DB)", name, kind(found.st_mode)));
}

OpenedFile::OpenedFile(const std::filesystem::path& file) : path_(std::filesystem::absolute(file)) {
  struct stat found {};
  if (stat(path_.c_str(), &found) != 0) throw Gone(fmt::format("{} was removed while it was opened", path_.string()));
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

void OpenedFile::expect_there() const {
  struct stat found {};
  const char* what = nullptr;
  if (stat(path_.c_str(), &found) != 0)
    what = "was removed or moved";
  else if (found.st_dev != device_ || found.st_ino != inode_)
    what = "was replaced by another file";
  else if (found.st_size == 0)
    what = "was emptied";
  if (what != nullptr)
    throw Gone(fmt::format("{} {} since it was opened: nothing more can be recorded there", path_.string(), what));
}

}  // namespace ablate::db
