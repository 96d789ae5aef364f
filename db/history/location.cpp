#include "db/history/location.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/util/error.h"
#include "core/util/shell_word.h"

namespace ablate::db {
namespace {

const char* kind(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Throws Error, because SQLite would create the missing target: in the folder of an unmounted disk, or with a misspelled name.
[[noreturn]] void refuse_link(const std::filesystem::path& link, int why) {
  if (why != ENOENT)
    throw Error(fmt::format("{} is a link that leads nowhere: {}; expected the file of a run history (--db FILE or ABLATE_DB)",
                            link.string(), std::strerror(why)));
  std::error_code none;
  const auto target = std::filesystem::weakly_canonical(
      std::filesystem::absolute(link).parent_path() / std::filesystem::read_symlink(link, none), none);
  const auto folder = target.parent_path();
  const bool has_folder = std::filesystem::is_directory(folder, none);
  throw Error(
      fmt::format("{} is a link to {}, where there is no {}; {}, or remove the link", link.string(), target.string(),
                  has_folder ? "file" : "folder " + folder.string(),
                  has_folder ? fmt::format("make it by `touch {}`", shell_word(target.string())) : "mount or make the folder"));
}

}  // namespace

void check_location(const std::filesystem::path& file) {
  const auto name = file.string();
  if (name.empty() || name == ":memory:" || name.starts_with("file:"))
    throw Error(fmt::format("\"{}\" can hold no run history: {} (--db FILE or ABLATE_DB)", name,
                            name.starts_with("file:") ? "expected a file's path, not a URI"
                                                      : "it would be lost when the process ends, expected a file's path"));
  struct stat found {};
  const int why = stat(name.c_str(), &found) == 0 ? 0 : errno;
  std::error_code unseen;
  if (why != 0 && std::filesystem::is_symlink(file, unseen)) refuse_link(file, why);
  if (why == 0 && !S_ISREG(found.st_mode))
    throw Error(
        fmt::format("{} is {}: expected the file of a run history (--db FILE or ABLATE_DB)", name, kind(found.st_mode)));
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (std::error_code none; !std::filesystem::is_directory(folder, none))
    throw Error(
        fmt::format("{} can hold no run history: there is no folder {} (--db FILE or ABLATE_DB)", name, folder.string()));
}

void check_writing_location(const std::filesystem::path& file) {
  check_location(file);
  struct stat found {};
  if (stat(file.c_str(), &found) != 0 || found.st_nlink < 2) return;
  const auto name = shell_word(file.string()), copy = shell_word(file.string() + ".copy");
  throw Error(
      fmt::format("{} has {} names (hard links), expected one: a program that opens it by another name does not see changes "
                  "made under this name. Nothing was changed. While nothing runs there, `cp -p {} {} && mv {} {}` makes a "
                  "separate file. A second name can be a symbolic link",
                  file.string(), found.st_nlink, name, copy, copy, name));
}

/// To read a WAL database, SQLite needs a file beside it. SQLite cannot create this file in a read-only folder. If that folder
/// has no log, the URI lets SQLite read the database as immutable.
std::string reading_location(const std::filesystem::path& file) {
  const auto absolute = std::filesystem::absolute(file);
  std::string uri = "file:";
  for (const char c : absolute.string()) {
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  std::error_code none;
  const bool as_it_is =
      access(absolute.parent_path().c_str(), W_OK) != 0 && !std::filesystem::exists(absolute.string() + "-wal", none);
  return uri + (as_it_is ? "?immutable=1" : "?mode=ro");
}

}  // namespace ablate::db
