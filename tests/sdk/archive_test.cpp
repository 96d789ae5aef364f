// Packed files are read up to a limit that depends on their size, so no file fills the memory.
#include "ablate/archive.h"

#include <archive.h>
#include <archive_entry.h>

#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMost = 256 * kMiB;  // maximum number of bytes that a small file may unpack to

using Writer = std::unique_ptr<archive, int (*)(archive*)>;

/// Archive entry of `size` zeros, or of `content` if `content` is not empty.
struct Entry {
  std::string name;
  std::size_t size;
  std::vector<char> content = {};
};

/// Writes entries. The writer must already have its format and its filter.
fs::path write_archive(const fs::path& path, Writer writer, const std::vector<Entry>& entries) {
  REQUIRE(archive_write_open_filename(writer.get(), path.c_str()) == ARCHIVE_OK);
  const std::vector<char> zeros(kMiB);
  for (const auto& [name, size, content] : entries) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.empty() ? size : content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    REQUIRE(archive_write_header(writer.get(), entry.get()) == ARCHIVE_OK);
    if (!content.empty()) REQUIRE(archive_write_data(writer.get(), content.data(), content.size()) > 0);
    for (std::size_t at = 0; content.empty() && at < size; at += kMiB)
      REQUIRE(archive_write_data(writer.get(), zeros.data(), std::min(kMiB, size - at)) > 0);
  }
  REQUIRE(archive_write_close(writer.get()) == ARCHIVE_OK);
  return path;
}

fs::path write_zip(const fs::path& path, const std::vector<Entry>& entries) {
  Writer writer(archive_write_new(), archive_write_free);
  archive_write_set_format_zip(writer.get());
  archive_write_set_options(writer.get(), "zip:compression-level=1");
  return write_archive(path, std::move(writer), entries);
}

/// @param options options of the filter; null: the defaults
fs::path write_tar(const fs::path& path, int (*filter)(archive*), const char* options, const std::vector<Entry>& entries) {
  Writer writer(archive_write_new(), archive_write_free);
  archive_write_set_format_ustar(writer.get());
  filter(writer.get());
  if (options != nullptr) REQUIRE(archive_write_set_options(writer.get(), options) == ARCHIVE_OK);
  return write_archive(path, std::move(writer), entries);
}

/// Reads a whole source in small pieces. Returns the number of bytes, or the message of the exception.
template <class Source>
std::string read_through(Source& source) try {
  std::vector<std::uint8_t> piece(kMiB);
  std::uint64_t bytes = 0;
  while (const auto got = source.read(piece)) bytes += got;
  return std::to_string(bytes);
} catch (const FileError& error) {
  return error.what();
}

/// Checks that an entry, or a whole file, is refused at the limit.
void check_refused(const std::string& message, const fs::path& what, const fs::path& file) {
  CHECK(message.starts_with(what.string() + ": found more than 268435456 bytes after unpacking (" +
                            std::to_string(fs::file_size(file)) + " bytes packed), expected no more"));
  CHECK(message.find("unpack it and use the unpacked file") != std::string::npos);
}

}  // namespace

TEST_CASE("a packed file may unpack to a hundred times its size, at least 256 MiB and at most 64 GiB") {
  STATIC_REQUIRE(most_unpacked(0) == kMost);
  STATIC_REQUIRE(most_unpacked(kMost / 100) == kMost);
  STATIC_REQUIRE(most_unpacked(10 * kMiB) == 1000 * kMiB);
  STATIC_REQUIRE(most_unpacked(UINT64_MAX) == std::uint64_t{1} << 36);
  CHECK_NOTHROW(check_unpacked("file", kMost, 1));
  CHECK_THROWS_AS(check_unpacked("file", kMost + 1, 1), FileError);
}

TEST_CASE("an endless gzip stream is refused at the limit, and before memory is allocated for its claimed size") {
  const TemporaryFolder folder;
  const auto plain = folder.write("zeros", "");
  fs::resize_file(plain, kMost + 1);  // plain files have no limit
  InputFile file(plain);
  CHECK(read_through(file) == std::to_string(kMost + 1));
  const auto gzip = folder / "zeros.gz";
  {
    Writer writer(archive_write_new(), archive_write_free);
    archive_write_set_format_raw(writer.get());
    archive_write_add_filter_gzip(writer.get());
    REQUIRE(archive_write_set_options(writer.get(), "gzip:compression-level=1") == ARCHIVE_OK);
    write_archive(gzip, std::move(writer), {{"zeros", kMost + 1}});
  }
  InputFile packed(gzip);
  check_refused(read_through(packed), gzip, gzip);
  try {
    InputFile(gzip).read_rest(kMost + 1, "as many zeros");
    FAIL("it was read");
  } catch (const FileError& error) {
    check_refused(error.what(), gzip, gzip);
  }
}

TEST_CASE("an archive's entries are refused if their sum exceeds the limit") {
  const TemporaryFolder folder;
  const std::vector<Entry> entries = {{"first", 130 * kMiB}, {"folder/second", 130 * kMiB}};
  fs::path path;
  auto packing = Packing::kTar;
  SECTION("zip") { path = write_zip(folder / "a.zip", entries), packing = Packing::kZip; }
  SECTION("tar, packed by xz") {
    path = write_tar(folder / "a.tar.xz", archive_write_add_filter_xz, "xz:compression-level=0", entries);
  }
  SECTION("tar, packed by gzip") {
    path = write_tar(folder / "a.tar.gz", archive_write_add_filter_gzip, "gzip:compression-level=1", entries);
  }
  INFO(path);
  Archive archive(path, packing);
  REQUIRE(archive.next() == "first");
  CHECK(read_through(archive) == std::to_string(130 * kMiB));
  REQUIRE(archive.next() == "folder/second");
  const auto message = read_through(archive);
  INFO(message);
  const bool is_gzip = path.extension() == ".gz";  // the gzip unpacker knows no entries and names the file
  check_refused(message, is_gzip ? path : path / "folder/second", path);
  CHECK(message.ends_with("(reading folder/second)") == is_gzip);
  if (packing == Packing::kZip) return;
  Archive passed_over(path, packing);  // skipped entries are unpacked too
  passed_over.next(), passed_over.next();
  CHECK_THROWS_AS(passed_over.next(), FileError);
}

TEST_CASE("the limit of an archive inside an archive depends on the size of the outer file") {
  const TemporaryFolder folder;
  const auto inner = write_zip(folder / "inner.zip", {{"zeros", kMost + 1}});
  std::vector<char> content(fs::file_size(inner));
  std::ifstream(inner, std::ios::binary).read(content.data(), static_cast<std::streamsize>(content.size()));
  const auto path = write_zip(folder / "outer.zip", {{"inner.zip", 0, content}});
  Archive outer(path, Packing::kZip);
  REQUIRE(outer.next() == "inner.zip");
  Archive archive(outer);
  REQUIRE(archive.next() == "zeros");
  check_refused(read_through(archive), path / "inner.zip/zeros", path);
}
