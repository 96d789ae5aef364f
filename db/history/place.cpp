#include "db/history/place.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "core/util/error.h"

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
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (std::error_code none; !std::filesystem::is_directory(folder, none))
    throw Error(
        fmt::format("{} is no place for a run history: there is no folder {} (--db FILE or ABLATE_DB)", name, folder.string()));
}

}  // namespace ablate::db
