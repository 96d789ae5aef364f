// Files by names that others may have put there: to open a pipe waits for a writer, and to read a device may never end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace ablate {

/// A file that is open for reading, and is a regular one.
class RegularFile {
 public:
  /// Waits for nobody. Throws Error: "cannot read PATH: " and why.
  explicit RegularFile(const std::filesystem::path& path);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  std::uintmax_t size() const { return size_; }  ///< bytes, when it was opened

  /// @return how many bytes; 0 at the end. Throws Error.
  std::size_t read(char* into, std::size_t most);

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uintmax_t size_ = 0;
};

/// Returns the text from the read position to the end that the file had when it was opened; less if it was cut since. Throws
/// Error. The file must fit into memory.
inline std::string whole_text(RegularFile& file) {
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  std::size_t size = 0;
  for (std::size_t read = 1; read > 0 && size < text.size(); size += read)
    read = file.read(text.data() + size, text.size() - size);
  text.resize(size);
  return text;
}

/// Writes a file anew, in the place of whatever bears its name. @return whether all of it was written
bool write_anew(const std::filesystem::path& path, std::string_view content);

/// Writes a file whole or not at all: beside it first, then in its place. @return what went wrong; then the file is as it was,
/// and nothing is left beside it
std::error_code put_whole(const std::filesystem::path& path, std::string_view content);

/// Waits until the disk has the names in a folder.
void names_to_disk(const std::filesystem::path& folder);

/// Takes the next piece of a file.
using TakePiece = std::function<void(std::string_view piece)>;
/// The same piece by piece. What `pieces` throws leaves the file as it was, too.
/// @param to_disk it is there, whole, also after the machine has died: waits until the disk has the file and its name
std::error_code put_whole(const std::filesystem::path& path, const std::function<void(const TakePiece& take)>& pieces,
                          bool to_disk = false);

}  // namespace ablate
