// Reads and writes only regular files: opening a pipe waits for a writer, and reading a device may never end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace ablate {

/// A regular file, open for reading.
class RegularFile {
 public:
  /// Never blocks. Throws Error: "cannot read PATH: " and the reason.
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  std::uintmax_t size() const { return size_; }  ///< bytes at the time of opening

  /// @return number of bytes; 0 at the end. Throws Error.
  std::size_t read(char* into, std::size_t most);

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uintmax_t size_ = 0;
};

/// Returns the text from the read position to the end that the file had when it was opened; less text if the file was cut since
/// then. Throws Error. The file must fit into memory.
inline std::string whole_text(RegularFile& file) {
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  std::size_t size = 0;
  for (std::size_t read = 1; read > 0 && size < text.size(); size += read)
    read = file.read(text.data() + size, text.size() - size);
  text.resize(size);
  return text;
}

/// Writes a new file that replaces any file with its name. Returns true if all of it was written.
bool write_anew(const std::filesystem::path& path, std::string_view content);

/// Writes a file whole or not at all: makes a new file beside it, then renames it. Returns the error, if any: then the file is
/// unchanged, and nothing is left beside it.
std::error_code put_whole(const std::filesystem::path& path, std::string_view content);

/// Waits until the names in a folder are on disk.
void names_to_disk(const std::filesystem::path& folder);

/// Receives the next piece of a file.
using TakePiece = std::function<void(std::string_view piece)>;
/// Like put_whole above, piece by piece. If `pieces` throws, the file is unchanged, too.
/// @param to_disk true: waits until the file and its name are on disk, so that a crash of the machine cannot lose the file
std::error_code put_whole(const std::filesystem::path& path, const std::function<void(const TakePiece& take)>& pieces,
                          bool to_disk = false);

}  // namespace ablate
