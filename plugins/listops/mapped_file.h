#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace ablate::listops {

/// A file's content without a copy: the published training file has 1.7 KB to 6 KB a row, and is read once.
class MappedFile {
 public:
  /// Throws std::runtime_error naming the file and the reason: also for what is no regular file, which may have no end.
  explicit MappedFile(const std::filesystem::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is not waited for
    struct stat about {};
    if (file < 0 || fstat(file, &about) != 0) fail(path, file);
    if (!S_ISREG(about.st_mode)) {
      close(file);
      throw std::runtime_error(path.string() + (S_ISDIR(about.st_mode) ? ": is a folder" : ": is not a regular file") +
                               ", expected a file");
    }
    size_ = static_cast<std::size_t>(about.st_size);
    if (size_ > 0) data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (data_ == MAP_FAILED) fail(path, file);
    close(file);
  }
  ~MappedFile() {
    if (size_ > 0) munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }

 private:
  [[noreturn]] static void fail(const std::filesystem::path& path, int file) {
    const std::string reason = std::strerror(errno);
    if (file >= 0) close(file);
    throw std::runtime_error(path.string() + ": cannot be read: " + reason);
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ablate::listops
