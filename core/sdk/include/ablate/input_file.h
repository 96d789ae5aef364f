// A data file, plain or gzipped, read from front to end. Torch-free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

struct gzFile_s;

namespace ablate {

/// Whatever is wrong with a file; what() begins with its path.
class FileError : public std::runtime_error {
 public:
  FileError(const std::filesystem::path& path, const std::string& what) : std::runtime_error(path.string() + ": " + what) {}
};

class InputFile {
 public:
  /// Throws FileError where it cannot be opened, or is no regular file: another may have no end.
  explicit InputFile(std::filesystem::path path);

  /// Fills the bytes. @return how many: fewer only where the content ends. Throws FileError where the gzip stream is cut off
  /// or damaged.
  std::size_t read(std::span<std::uint8_t> to);

  /// Fills the bytes; throws FileError, naming `what` they are, where the content ends before.
  void read_all(std::span<std::uint8_t> to, const std::string& what);

  /// The rest of the content, which has to be `bytes` long. A header's size is a claim: it is held against the size of the file
  /// (gzip: against what a file of that size can hold) before memory is taken, and again at the end. Throws FileError.
  std::vector<std::uint8_t> read_rest(std::uint64_t bytes, const std::string& what);

  /// The rest of the content, or its first bytes where there are more than `most`: as much memory as there is content. Throws
  /// FileError.
  std::vector<std::uint8_t> read_some(std::uint64_t most);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  std::uint64_t position_ = 0;  ///< in the content
};

}  // namespace ablate
