// Data file, plain or gzipped, read from front to end, by bytes or by lines. Torch-free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;

namespace ablate {

/// Error in a file. what() begins with the file's path, "FILE: ", or with the line, "FILE:LINE: ".
class FileError : public std::runtime_error {
 public:
  /// @param what message with the path, for example what() of another FileError
  explicit FileError(const std::string& what) : std::runtime_error(what) {}
  FileError(const std::filesystem::path& path, const std::string& what) : std::runtime_error(path.string() + ": " + what) {}
  /// @param line from 1
  FileError(const std::filesystem::path& path, std::uint64_t line, const std::string& what)
      : std::runtime_error(path.string() + ":" + std::to_string(line) + ": " + what) {}
};

/// Returns the largest size that a packed file may have after unpacking: 100 times its bytes, at least 256 MiB and at most 64
/// GiB. No data set comes near that. A file that exceeds the limit was made to fill the memory, and is refused.
constexpr std::uint64_t most_unpacked(std::uint64_t packed) {
  constexpr std::uint64_t kFactor = 100, kLeast = std::uint64_t{1} << 28, kMost = std::uint64_t{1} << 36;
  return packed > kMost / kFactor ? kMost : packed * kFactor < kLeast ? kLeast : packed * kFactor;
}

/// Throws FileError if `unpacked` exceeds most_unpacked(packed).
/// @param what path of the file, or of its archive and the entry
void check_unpacked(const std::filesystem::path& what, std::uint64_t unpacked, std::uint64_t packed);

class InputFile {
 public:
  /// Throws FileError if the file cannot be opened or is not a regular file, because other files may never end.
  explicit InputFile(std::filesystem::path path);

  /// Fills `to`. Throws FileError if the gzip stream is cut off, damaged, or longer than most_unpacked().
  /// @return the number of bytes read: fewer than the size of `to` only at the end of the content
  std::size_t read(std::span<std::uint8_t> to);

  /// Fills `to`. Throws FileError if the content ends before `to` is full.
  /// @param what name of the bytes, for the message
  void read_all(std::span<std::uint8_t> to, const std::string& what);

  /// Returns the rest of the content, which must have `bytes` bytes. This number often comes from a file's header, so it is
  /// checked before memory is allocated, and again at the end. The number is compared with the file's size, or for gzip with
  /// the largest content that is possible and allowed. Throws FileError.
  std::vector<std::uint8_t> read_rest(std::uint64_t bytes, const std::string& what);

  /// Returns the rest of the content, but at most `most` bytes. A large `most` costs no memory by itself. Throws FileError.
  std::vector<std::uint8_t> read_some(std::uint64_t most);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  std::uint64_t position_ = 0;  ///< in the content
  std::uint64_t stored_ = 0;    ///< the file's bytes
};

/// Lines of text, read in little memory for a file of any size.
class Lines {
 public:
  /// Fills `to` with the next bytes. Returns the number of bytes: fewer than the size of `to` only at the end of the content.
  using Read = std::function<std::size_t(std::span<std::uint8_t> to)>;

  /// Reads a file, plain or gzipped. Throws FileError like InputFile, here and in next().
  explicit Lines(const std::filesystem::path& path);
  /// Reads the content that read() returns, for example an archive's entry.
  /// @param path name of the content in messages
  Lines(std::filesystem::path path, Read read);
  Lines(Lines&&) = default;  // a copy would continue in the same file
  Lines& operator=(Lines&&) = default;

  /// Returns the next line without its end (LF or CRLF), valid until the next call, or nullopt after the last line. Throws
  /// FileError if a line is longer than 1 GiB, because such a line is no text.
  std::optional<std::string_view> next();
  std::uint64_t number() const { return number_; }  ///< number of the last returned line, from 1; 0 before the first
  /// Throws FileError with the current line's number.
  [[noreturn]] void refuse(const std::string& what) const { throw FileError(path_, number_, what); }

 private:
  std::filesystem::path path_;
  Read read_;
  std::string buffer_;
  std::size_t at_ = 0;  ///< start of the next line in buffer_
  bool ended_ = false;  ///< buffer_ holds the rest of the content
  std::uint64_t number_ = 0;
};

}  // namespace ablate
