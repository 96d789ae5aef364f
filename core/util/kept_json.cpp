#include "core/util/kept_json.h"

#include <unistd.h>

#include <cerrno>

#include "core/util/regular_file.h"

namespace ablate {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28;  ///< what is longer nobody has kept here

}  // namespace

json read_kept(const fs::path& file) {
  try {
    RegularFile kept(file);
    if (kept.size() > kMostBytes) return json(json::value_t::discarded);
    std::string text(kept.size(), '\0');
    std::size_t size = 0;
    while (const auto n = kept.read(text.data() + size, text.size() - size)) size += n;
    text.resize(size);
    return json::parse(text, nullptr, false);
  } catch (const std::exception&) {  // one that is not there, or cannot be read
    return json(json::value_t::discarded);
  }
}

std::string keep(const fs::path& file, const json& content) {
  std::error_code failed, ignored;
  fs::create_directories(file.parent_path(), failed);
  if (failed) return failed.message();
  const auto part = file.string() + "." + std::to_string(getpid());
  errno = 0;
  if (!write_anew(part, content.dump(-1, ' ', false, json::error_handler_t::replace)))
    failed = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  if (!failed) fs::rename(part, file, failed);
  if (!failed) return "";
  fs::remove(part, ignored);  // a full disk, a folder in its place
  return failed.message();
}

}  // namespace ablate
