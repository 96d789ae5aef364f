#include "core/util/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/util/error.h"

namespace ablate {

RegularFile::RegularFile(const std::filesystem::path& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  struct stat status {};
  std::string why;
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0)
    why = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    why = S_ISDIR(status.st_mode) ? "it is a folder" : "it is no regular file, but a pipe, a socket or a device";
  size_ = static_cast<std::uintmax_t>(status.st_size);
  if (why.empty()) return;
  if (descriptor_ >= 0) close(descriptor_);
  throw Error("cannot read " + path.string() + ": " + why);
}

RegularFile::~RegularFile() { close(descriptor_); }

std::size_t RegularFile::read(char* into, std::size_t most) {
  for (;;) {
    const auto n = ::read(descriptor_, into, most);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) throw Error("cannot read " + path_.string() + ": " + std::strerror(errno));
  }
}

bool write_anew(const std::filesystem::path& path, std::string_view content) {
  unlink(path.c_str());
  const int to = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (to < 0) return false;
  bool all = true;
  while (all && !content.empty()) {
    const auto n = write(to, content.data(), content.size());
    if (n > 0) content.remove_prefix(static_cast<std::size_t>(n));
    all = n > 0 || (n < 0 && errno == EINTR);
  }
  return close(to) == 0 && all;
}

std::error_code put_whole(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path part(path.string() + "." + std::to_string(getpid()));
  std::error_code failed, ignored;
  errno = 0;
  if (!write_anew(part, content))
    failed = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  else
    std::filesystem::rename(part, path, failed);
  if (failed) std::filesystem::remove(part, ignored);  // a full disk, a folder in its place
  return failed;
}

}  // namespace ablate
