// Archive of files, read from front to end without unpacking it (libarchive). Torch-free.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ablate/input_file.h"

struct archive;

namespace ablate {

enum class Packing { kZip, kTar };  ///< kTar: plain, or packed by gzip or xz

class Archive {
 public:
  /// Throws FileError if the file is not an archive of this kind, is damaged or is cut off. Every call throws FileError for
  /// these faults, and if the content read from all entries exceeds most_unpacked() of the file's size.
  Archive(const std::filesystem::path& path, Packing packing);
  /// Opens the zip archive that is the current entry of `outer`. `outer` must live longer and stay on that entry.
  explicit Archive(Archive& outer);

  /// Goes to the next regular file.
  /// @return its path in the archive, or nullopt at the end
  std::optional<std::filesystem::path> next();
  /// Bytes of the entry's content according to its header, or nullopt if the header does not contain the size.
  std::optional<std::uint64_t> size() const { return size_; }
  /// Fills `to` with the entry's content. The checksum is compared at the end of the entry.
  /// @return the number of bytes read: fewer than the span's size only at the end of the entry
  std::size_t read(std::span<std::uint8_t> to);
  /// Returns the rest of the entry's content, or its first `most` bytes if there are more.
  std::vector<std::uint8_t> read_some(std::uint64_t most);

 private:
  void check(int code);
  [[noreturn]] void refuse();
  std::filesystem::path entry() const { return (outer_ != nullptr ? outer_->entry() : name_) / entry_; }
  static std::ptrdiff_t read_block(archive* archive, void* self, const void** block);

  std::filesystem::path name_, entry_;
  std::uint64_t packed_, unpacked_ = 0;  ///< bytes of the file, and of the content read so far
  Packing packing_;
  std::optional<std::uint64_t> size_;
  std::optional<InputFile> file_;     ///< for a tar: unpacks gzip, because libarchive does not compare the gzip checksum
  Archive* outer_ = nullptr;          ///< for a zip archive inside another archive
  std::string fault_;                 ///< message of an exception thrown while reading file_ or outer_
  std::vector<std::uint8_t> buffer_;  ///< input buffer of libarchive
  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

}  // namespace ablate
