// A data file, plain or gzipped, read from front to end, by bytes or by lines. Torch-free.
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

/// Whatever is wrong with a file; what() begins with its path, "FILE: ", or with the line, "FILE:LINE: ".
class FileError : public std::runtime_error {
 public:
  /// @param what with the path, as another one's what()
  explicit FileError(const std::string& what) : std::runtime_error(what) {}
  FileError(const std::filesystem::path& path, const std::string& what) : std::runtime_error(path.string() + ": " + what) {}
  /// @param line from 1
  FileError(const std::filesystem::path& path, std::uint64_t line, const std::string& what)
      : std::runtime_error(path.string() + ":" + std::to_string(line) + ": " + what) {}
};

/// What a packed file of so many bytes may unpack to: what goes on beyond has been made to take all memory, and is refused. 100
/// times its size, which no data set comes near, at least 256 MiB and at most 64 GiB.
constexpr std::uint64_t most_unpacked(std::uint64_t packed) {
  constexpr std::uint64_t kFactor = 100, kLeast = std::uint64_t{1} << 28, kMost = std::uint64_t{1} << 36;
  return packed > kMost / kFactor ? kMost : packed * kFactor < kLeast ? kLeast : packed * kFactor;
}

/// Throws FileError where `unpacked` bytes are more than most_unpacked(packed). @param what is unpacked: a path, or an entry's
/// behind that of its archive
void check_unpacked(const std::filesystem::path& what, std::uint64_t unpacked, std::uint64_t packed);

class InputFile {
 public:
  /// Throws FileError where it cannot be opened, or is no regular file: another may have no end.
  explicit InputFile(std::filesystem::path path);

  /// Fills the bytes. @return how many: fewer only where the content ends. Throws FileError where the gzip stream is cut off,
  /// damaged, or longer than most_unpacked().
  std::size_t read(std::span<std::uint8_t> to);

  /// Fills the bytes; throws FileError, naming `what` they are, where the content ends before.
  void read_all(std::span<std::uint8_t> to, const std::string& what);

  /// The rest of the content, which has to be `bytes` long. A header's size is a claim: it is held against the size of the file
  /// (gzip: against what a file of that size can and may hold) before memory is taken, and again at the end. Throws FileError.
  std::vector<std::uint8_t> read_rest(std::uint64_t bytes, const std::string& what);

  /// The rest of the content, or its first bytes where there are more than `most`: as much memory as there is content. Throws
  /// FileError.
  std::vector<std::uint8_t> read_some(std::uint64_t most);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  std::uint64_t position_ = 0;  ///< in the content
  std::uint64_t stored_ = 0;    ///< the file's bytes
};

/// Lines of text, in little memory whatever the file's size.
class Lines {
 public:
  /// Fills with the next bytes; returns how many: fewer only where the content ends.
  using Read = std::function<std::size_t(std::span<std::uint8_t> to)>;

  /// Of a file, plain or gzipped. Throws FileError as InputFile does, here and in next().
  explicit Lines(const std::filesystem::path& path);
  /// Of what read() gives, as an archive's entry. @param path what messages call it
  Lines(std::filesystem::path path, Read read);
  Lines(Lines&&) = default;  // a copy would read on in the same file
  Lines& operator=(Lines&&) = default;

  /// The next line without its end, LF or CRLF, valid until the next call; nothing behind the last. Throws FileError for one
  /// of more than 1 GiB, which is no text's.
  std::optional<std::string_view> next();
  std::uint64_t number() const { return number_; }  ///< of the line that next() gave last, from 1; 0 before it
  /// Throws FileError at that line.
  [[noreturn]] void refuse(const std::string& what) const { throw FileError(path_, number_, what); }

 private:
  std::filesystem::path path_;
  Read read_;
  std::string buffer_;
  std::size_t at_ = 0;  ///< where the next line begins in it
  bool ended_ = false;  ///< the buffer holds all that is left
  std::uint64_t number_ = 0;
};

}  // namespace ablate
