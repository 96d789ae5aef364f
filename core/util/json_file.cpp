#include "core/util/json_file.h"

#include "core/util/regular_file.h"

namespace ablate {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28;  ///< this program writes no file above this size

}  // namespace

json read_json_file(const fs::path& file) {
  try {
    RegularFile stored(file);
    if (stored.size() > kMostBytes) return json(json::value_t::discarded);
    return json::parse(whole_text(stored), nullptr, false);
  } catch (const std::exception&) {  // the file is missing or cannot be read
    return json(json::value_t::discarded);
  }
}

std::string put_json_file(const fs::path& file, const json& content) {
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  if (!failed) failed = put_whole(file, content.dump(-1, ' ', false, json::error_handler_t::replace));
  return failed ? failed.message() : "";
}

}  // namespace ablate
