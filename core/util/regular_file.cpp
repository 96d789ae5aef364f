#include "core/util/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
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

namespace {

/// A new file that replaces any file with its name.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& path) {
    unlink(path.c_str());
    descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail();
  }
  ~NewFile() { end(); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool write(std::string_view piece) {
    while (!failed_ && !piece.empty()) {
      const auto n = ::write(descriptor_, piece.data(), piece.size());
      if (n > 0)
        piece.remove_prefix(static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR)
        fail();
    }
    return !failed_;
  }
  void to_disk() {
    if (!failed_ && fsync(descriptor_) != 0) fail();
  }
  /// @return the error, if any
  std::error_code end() {
    if (descriptor_ >= 0 && close(descriptor_) != 0) fail();
    descriptor_ = -1;
    return failed_;
  }

 private:
  void fail() { failed_ = std::error_code(errno != 0 ? errno : EIO, std::generic_category()); }

  int descriptor_ = -1;
  std::error_code failed_;
};

}  // namespace

bool write_anew(const std::filesystem::path& path, std::string_view content) {
  NewFile file(path);
  file.write(content);
  return !file.end();
}

void names_to_disk(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);  // if it fails, the names are still stored, only later
  close(descriptor);
}

std::error_code put_whole(const std::filesystem::path& path, const std::function<void(const TakePiece& take)>& pieces,
                          bool to_disk) {
  // A random number, because processes of two machines or containers may have the same PID.
  const std::filesystem::path part(path.string() + "." + std::to_string(std::random_device()()));
  std::error_code failed, ignored;
  try {
    NewFile file(part);
    pieces([&](std::string_view piece) {
      if (!file.write(piece)) throw std::system_error(file.end(), part.string());  // the rest is not needed
    });
    if (to_disk) file.to_disk();
    failed = file.end();
  } catch (const std::system_error& error) {
    failed = error.code();
  } catch (...) {
    std::filesystem::remove(part, ignored);
    throw;
  }
  if (!failed) std::filesystem::rename(part, path, failed);
  if (failed) std::filesystem::remove(part, ignored);  // for example after a full disk, or if a folder has the name
  if (!failed && to_disk) names_to_disk(path.parent_path());
  return failed;
}

std::error_code put_whole(const std::filesystem::path& path, std::string_view content) {
  return put_whole(path, [&](const TakePiece& take) { take(content); });
}

}  // namespace ablate
