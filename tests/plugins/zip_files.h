// Zip archives for tasks that read them (libarchive).
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "tests/plugins/task.h"

namespace ablate::tests {

/// @param packed true: deflated; false: stored
inline void write_zip(const fs::path& path, const std::vector<std::pair<std::string, Bytes>>& entries, bool packed = true) {
  const std::unique_ptr<archive, int (*)(archive*)> zip(archive_write_new(), archive_write_free);
  REQUIRE(archive_write_set_format_zip(zip.get()) == ARCHIVE_OK);
  REQUIRE((packed ? archive_write_zip_set_compression_deflate : archive_write_zip_set_compression_store)(zip.get()) ==
          ARCHIVE_OK);
  REQUIRE(archive_write_open_filename(zip.get(), path.c_str()) == ARCHIVE_OK);
  for (const auto& [name, content] : entries) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    REQUIRE(archive_write_header(zip.get(), entry.get()) == ARCHIVE_OK);
    REQUIRE(archive_write_data(zip.get(), content.data(), content.size()) == static_cast<la_ssize_t>(content.size()));
  }
  REQUIRE(archive_write_close(zip.get()) == ARCHIVE_OK);
}

}  // namespace ablate::tests
