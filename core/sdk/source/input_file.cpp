#include "ablate/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ablate {
namespace {

constexpr unsigned kBufferBytes = 1u << 17;
constexpr std::size_t kPiece = std::size_t{1} << 22;
constexpr std::size_t kMostPerCall = std::size_t{1} << 30;  // gzread counts in int
// A deflate stream expands at most 1032 times (RFC 1951: 258 bytes from 2 bits).
constexpr std::uint64_t kMostExpansion = 1032;
constexpr std::size_t kLongestLine = std::size_t{1} << 30;

}  // namespace

void check_unpacked(const std::filesystem::path& what, std::uint64_t unpacked, std::uint64_t packed) {
  if (const auto most = most_unpacked(packed); unpacked > most)
    throw FileError(what, "found more than " + std::to_string(most) + " bytes after unpacking (" + std::to_string(packed) +
                              " bytes packed), expected no more (the limit is 100 times the packed size, but at least " +
                              "256 MiB and at most 64 GiB); if the file is longer, unpack it and use the unpacked file");
}

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)), file_(nullptr, gzclose) {
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a pipe must not block
  if (file < 0) throw FileError(path_, std::string("cannot be read: ") + std::strerror(errno));
  struct stat about {};
  const bool is_known = fstat(file, &about) == 0;
  if (is_known && S_ISREG(about.st_mode)) file_.reset(gzdopen(file, "rb"));
  if (file_ == nullptr) close(file);
  if (is_known && S_ISDIR(about.st_mode)) throw FileError(path_, "found a folder, expected a file");
  if (!is_known || !S_ISREG(about.st_mode)) throw FileError(path_, "is not a regular file, expected one");
  if (file_ == nullptr) throw FileError(path_, "cannot be read: out of memory");
  gzbuffer(file_.get(), kBufferBytes);
  stored_ = static_cast<std::uint64_t>(about.st_size);
}

std::size_t InputFile::read(std::span<std::uint8_t> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    const int got = gzread(file_.get(), to.data() + done, static_cast<unsigned>(std::min(to.size() - done, kMostPerCall)));
    if (got > 0) done += static_cast<std::size_t>(got);
    int code = Z_OK;
    const char* reason = gzerror(file_.get(), &code);
    const auto at = " after " + std::to_string(position_ + done) + " bytes of content";
    if (code == Z_BUF_ERROR) throw FileError(path_, "the gzip stream is cut off" + at + "; fetch it again");
    if (code == Z_ERRNO) throw FileError(path_, std::string("cannot be read: ") + std::strerror(errno));
    if (code != Z_OK || got < 0)
      throw FileError(path_, "the gzip stream is damaged" + at + " (" + reason + "); fetch it again");
    if (got == 0) break;
  }
  position_ += done;
  if (gzdirect(file_.get()) == 0) check_unpacked(path_, position_, stored_);
  return done;
}

void InputFile::read_all(std::span<std::uint8_t> to, const std::string& what) {
  const auto before = position_;
  const auto got = read(to);
  if (got < to.size())
    throw FileError(path_, "ends after " + std::to_string(before + got) + " bytes, within " + what + "; expected " +
                               std::to_string(before + to.size()) + " bytes or more");
}

std::vector<std::uint8_t> InputFile::read_rest(std::uint64_t bytes, const std::string& what) {
  const auto stored = stored_, expected = position_ + bytes;
  const auto refuse = [&](const std::string& found) {
    throw FileError(path_, found + ", expected " + std::to_string(expected) + " bytes for " + what);
  };
  if (gzdirect(file_.get()) != 0) {
    if (stored != expected) refuse("found " + std::to_string(stored) + " bytes");
  } else if (expected / kMostExpansion > stored) {
    refuse("found a gzip file of " + std::to_string(stored) + " bytes, which cannot hold that");
  } else {
    check_unpacked(path_, expected, stored);
  }
  std::vector<std::uint8_t> content(bytes);
  const auto got = read(content);
  if (got < bytes) refuse("found " + std::to_string(position_) + " bytes");
  std::uint8_t more = 0;  // also makes zlib compare the checksum at the stream's end
  if (read({&more, 1}) != 0) refuse("found more than " + std::to_string(expected) + " bytes");
  return content;
}

std::vector<std::uint8_t> InputFile::read_some(std::uint64_t most) {
  std::vector<std::uint8_t> content;
  content.reserve(std::min<std::uint64_t>(most, stored_ + kPiece));  // one allocation for a plain file
  while (content.size() < most) {
    const auto before = content.size(), piece = std::min<std::size_t>(kPiece, most - before);
    content.resize(before + piece);
    content.resize(before + read(std::span(content).subspan(before)));
    if (content.size() < before + piece) break;
  }
  return content;
}

Lines::Lines(const std::filesystem::path& path)
    : Lines(path, [file = std::make_shared<InputFile>(path)](std::span<std::uint8_t> to) { return file->read(to); }) {}

Lines::Lines(std::filesystem::path path, Read read) : path_(std::move(path)), read_(std::move(read)) {}

std::optional<std::string_view> Lines::next() {
  auto end = buffer_.find('\n', at_);
  while (end == std::string::npos && !ended_) {
    buffer_.erase(0, std::exchange(at_, 0));
    const auto before = buffer_.size();
    if (before > kLongestLine) throw FileError(path_, number_ + 1, "found more than 1 GiB without a line's end, expected text");
    buffer_.resize(before + kPiece);
    const auto got = read_({reinterpret_cast<std::uint8_t*>(buffer_.data()) + before, kPiece});
    buffer_.resize(before + got);
    ended_ = got < kPiece;
    end = buffer_.find('\n', before);
  }
  if (end == std::string::npos && at_ == buffer_.size()) return std::nullopt;
  auto line = std::string_view(buffer_).substr(at_, end - at_);  // up to the content's end if end is npos
  at_ = std::min(end, buffer_.size() - 1) + 1;
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace ablate
