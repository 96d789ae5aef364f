// An archive of files, read from front to end without unpacking it (libarchive). Torch-free.
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
  /// Throws FileError, as all calls do where it is no such archive, damaged or cut off, or where what was read of it is more
  /// than most_unpacked() of its file's size, all entries counted together.
  Archive(const std::filesystem::path& path, Packing packing);
  /// The zip archive that the outer one's entry is, which has to live longer and go nowhere meanwhile.
  explicit Archive(Archive& outer);

  /// Goes to the next regular file. @return its path as the archive has it; nothing at the end
  std::optional<std::filesystem::path> next();
  /// Bytes of the entry's content as its header claims; nothing where only its end will tell.
  std::optional<std::uint64_t> size() const { return size_; }
  /// Fills with the entry's content. @return how many bytes: fewer only where it ends, which is when its checksum is compared
  std::size_t read(std::span<std::uint8_t> to);
  /// The rest of the entry's content, or its first bytes where there are more than `most`.
  std::vector<std::uint8_t> read_some(std::uint64_t most);

 private:
  void check(int code);
  [[noreturn]] void refuse();
  std::filesystem::path entry() const { return (outer_ != nullptr ? outer_->entry() : name_) / entry_; }
  static std::ptrdiff_t read_block(archive* archive, void* self, const void** block);

  std::filesystem::path name_, entry_;
  std::uint64_t packed_, unpacked_ = 0;  ///< bytes of the file, and of the content that was read
  Packing packing_;
  std::optional<std::uint64_t> size_;
  std::optional<InputFile> file_;     ///< of a tar: it unpacks gzip, whose checksum libarchive does not compare
  Archive* outer_ = nullptr;          ///< of a zip inside of it
  std::string fault_;                 ///< what reading either has thrown
  std::vector<std::uint8_t> buffer_;  ///< what libarchive reads from
  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

}  // namespace ablate
