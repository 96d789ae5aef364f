#include "core/util/kept_json.h"

#include <unistd.h>

#include <fstream>

namespace ablate {

namespace fs = std::filesystem;
using nlohmann::json;

json read_kept(const fs::path& file) {
  std::error_code unseen;
  if (!fs::is_regular_file(file, unseen))
    return json(json::value_t::discarded);  // to open a pipe would be to wait for a writer
  try {
    std::ifstream stream(file);
    return json::parse(stream, nullptr, false);
  } catch (const std::exception&) {  // one that cannot be read
    return json(json::value_t::discarded);
  }
}

void keep(const fs::path& file, const json& content) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const auto part = file.string() + "." + std::to_string(getpid());
  std::ofstream stream(part);
  std::error_code failed;
  if (stream << content << std::flush) fs::rename(part, file, failed);
  if (!stream || failed) fs::remove(part, ignored);  // a full disk, a folder in its place
}

}  // namespace ablate
