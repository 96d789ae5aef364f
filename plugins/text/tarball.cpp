#include "tarball.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "ablate/input_file.h"

namespace ablate::imdb {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 17;

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path), archive_(archive_read_new(), archive_read_free) {
    if (!std::filesystem::is_regular_file(path)) throw FileError(path, "is not a regular file, expected one");
    check(archive_read_support_filter_gzip(archive_.get()));
    check(archive_read_support_filter_xz(archive_.get()));
    check(archive_read_support_format_tar(archive_.get()));
    check(archive_read_open_filename(archive_.get(), path.c_str(), kBlock));
  }

  /// @return null at the end
  archive_entry* next() {
    archive_entry* entry = nullptr;
    const auto code = archive_read_next_header(archive_.get(), &entry);
    if (code == ARCHIVE_EOF) return nullptr;
    check(code);
    return entry;
  }

  std::string read(std::size_t most) {
    std::string bytes;
    while (bytes.size() < most) {
      const auto before = bytes.size();
      bytes.resize(std::min(most, before + kBlock));
      const auto got = archive_read_data(archive_.get(), bytes.data() + before, bytes.size() - before);
      if (got < 0) check(static_cast<int>(got));
      bytes.resize(before + static_cast<std::size_t>(got));
      if (got == 0) break;
    }
    return bytes;
  }

 private:
  void check(int code) {
    if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return;  // a warning is of times and owners
    const char* reason = archive_error_string(archive_.get());
    throw FileError(path_, std::string("cannot be read (") + (reason != nullptr ? reason : "no reason given") +
                               "); expected a whole tar archive, packed by gzip or xz: fetch it again");
  }

  std::filesystem::path path_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
};

}  // namespace

void for_each_entry(const std::filesystem::path& archive,
                    const std::function<void(const std::string& name, const ReadBytes& read)>& visit) {
  Reader reader(archive);
  while (auto* const entry = reader.next()) {
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr || archive_entry_filetype(entry) != AE_IFREG) continue;
    visit(name, [&](std::size_t most) { return reader.read(most); });
  }
}

}  // namespace ablate::imdb
