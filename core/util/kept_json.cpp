#include "core/util/kept_json.h"

#include <unistd.h>

#include <fstream>

namespace ablate {

namespace fs = std::filesystem;
using nlohmann::json;

json read_kept(const fs::path& file) {
  try {
    std::ifstream stream(file);
    return json::parse(stream, nullptr, false);
  } catch (const std::exception&) {  // a folder in its place
    return json(json::value_t::discarded);
  }
}

void keep(const fs::path& file, const json& content) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  const auto part = file.string() + "." + std::to_string(getpid());
  if (std::ofstream stream(part); !(stream << content << std::flush))
    fs::remove(part, ignored);
  else
    fs::rename(part, file, ignored);
}

}  // namespace ablate
