#include "core/trial/server/planned_files.h"

#include <fmt/format.h>

#include "core/util/error.h"
#include "core/util/file_stamp.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

constexpr const char* kRemedy = "put the old file back and run again with --retry failed, or run again to use the new file";

std::string digest_of(const std::string& parameter, const std::string& path, const std::string& expected) try {
  return sha256_file(path);
} catch (const Error& why) {
  throw Error(
      fmt::format("{} = {}: the file was removed after the study was read, or cannot be read any more ({}); expected a file "
                  "with the SHA-256 {}: {}",
                  parameter, path, why.what(), short_digest(expected), kRemedy));
}

}  // namespace

PlannedFiles::PlannedFiles(const std::vector<PlannedFile>& files) {
  for (const auto& file : files) files_.push_back({file, file_stamp(file.file)});
  check();
}

void PlannedFiles::check() const {
  for (const auto& [file, stamp] : files_) {
    const auto& [parameter, path, digest] = file;
    if (const auto found = digest_of(parameter, path, digest); found != digest)
      throw Error(
          fmt::format("{} = {}: the file changed after the study was read: its SHA-256 is {}, expected {}, which is "
                      "part of the trial's key: {}",
                      parameter, path, short_digest(found), short_digest(digest), kRemedy));
    if (file_stamp(path) != stamp)
      throw Error(
          fmt::format("{} = {}: the file was written to while it was read, so it is unknown which content was read. Its "
                      "SHA-256 is {} again, as expected; run the command again",
                      parameter, path, short_digest(digest)));
  }
}

}  // namespace ablate
