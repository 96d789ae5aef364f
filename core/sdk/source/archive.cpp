#include "ablate/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>

namespace ablate {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

}  // namespace

Archive::Archive(const std::filesystem::path& path, Packing packing)
    : name_(path), packed_(0), packing_(packing), archive_(archive_read_new(), archive_read_free) {
  if (!std::filesystem::is_regular_file(path)) throw FileError(path, "is not a regular file, expected one");
  packed_ = std::filesystem::file_size(path);
  if (packing == Packing::kZip) {
    check(archive_read_support_format_zip(archive_.get()));
    check(archive_read_open_filename(archive_.get(), path.c_str(), kBlock));
    return;
  }
  file_.emplace(path), buffer_.resize(kBlock);
  check(archive_read_support_filter_xz(archive_.get()));
  check(archive_read_support_format_tar(archive_.get()));
  check(archive_read_open(archive_.get(), this, nullptr, read_block, nullptr));
}

Archive::Archive(Archive& outer)
    : name_(outer.name_),
      packed_(outer.packed_),
      packing_(Packing::kZip),
      outer_(&outer),
      buffer_(kBlock),
      archive_(archive_read_new(), archive_read_free) {
  check(archive_read_support_format_zip(archive_.get()));
  check(archive_read_open(archive_.get(), this, nullptr, read_block, nullptr));
}

/// Called by libarchive, so it must not throw.
std::ptrdiff_t Archive::read_block(archive* archive, void* self, const void** block) {
  auto& own = *static_cast<Archive*>(self);
  *block = own.buffer_.data();
  try {
    return static_cast<std::ptrdiff_t>(own.outer_ != nullptr ? own.outer_->read(own.buffer_) : own.file_->read(own.buffer_));
  } catch (const std::exception& error) {
    own.fault_ = error.what();
    archive_set_error(archive, EIO, "%s", error.what());
    return -1;
  }
}

std::optional<std::filesystem::path> Archive::next() {
  for (;;) {
    archive_entry* entry = nullptr;
    const auto code = archive_read_next_header(archive_.get(), &entry);
    // Skipped entries count too, because they had to be unpacked.
    if (packing_ == Packing::kTar)
      check_unpacked(this->entry(), static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), 0)), packed_);
    entry_.clear();
    if (code == ARCHIVE_EOF) {
      // A tar ends before its gzip stream. The rest is read because the checksum is compared at the stream's end.
      while (file_ && file_->read(buffer_) == buffer_.size()) continue;
      return std::nullopt;
    }
    check(code);
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr || archive_entry_filetype(entry) != AE_IFREG) continue;
    entry_ = name;
    size_.reset();
    if (archive_entry_size_is_set(entry) != 0) size_ = static_cast<std::uint64_t>(archive_entry_size(entry));
    return name;
  }
}

std::size_t Archive::read(std::span<std::uint8_t> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const auto got = archive_read_data(archive_.get(), to.data() + done, to.size() - done);
    if (got < 0) refuse();  // also for a warning: here it means a wrong checksum
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  check_unpacked(entry(), unpacked_ += done, packed_);
  return done;
}

std::vector<std::uint8_t> Archive::read_some(std::uint64_t most) {
  std::vector<std::uint8_t> content;
  while (content.size() < most) {
    const auto before = content.size();
    content.resize(static_cast<std::size_t>(std::min<std::uint64_t>(most, before + kBlock)));
    const auto got = read(std::span(content).subspan(before));
    const bool ends = before + got < content.size();
    content.resize(before + got);
    if (ends) break;
  }
  return content;
}

void Archive::check(int code) {
  if (code != ARCHIVE_OK && code != ARCHIVE_WARN) refuse();  // warnings are about times and owners
}

void Archive::refuse() {
  if (!fault_.empty()) throw FileError(fault_ + (entry_.empty() ? "" : " (reading " + entry_.string() + ")"));
  const char* reason = archive_error_string(archive_.get());
  throw FileError(name_,
                  std::string("cannot be read (") + (reason != nullptr ? reason : "no reason given") + "); expected a whole " +
                      (packing_ == Packing::kZip ? "zip archive" : "tar archive, packed by gzip or xz") + ": fetch it again");
}

}  // namespace ablate
