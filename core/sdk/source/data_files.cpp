#include "ablate/data_files.h"

#include <cstdlib>
#include <stdexcept>

namespace ablate {

namespace fs = std::filesystem;

fs::path find_data(const std::string& task, const std::string& data, const std::string& expected,
                   const std::function<bool(const fs::path&)>& will_do) {
  std::vector<fs::path> places;
  if (!data.empty() && fs::path(data).is_relative() && *fs::path(data).begin() != "." && *fs::path(data).begin() != "..")
    for (const auto& folder : data_folders()) places.push_back(folder / data);
  else if (!data.empty())
    places.push_back(fs::absolute(data));
  std::string looked;
  for (const auto& place : places) {
    looked += (looked.empty() ? "; looked for " : ", ") + place.string();
    try {
      if (will_do(place)) return place;
      if (fs::exists(place)) looked += fs::is_directory(place) ? " (is a folder)" : " (is no folder)";
    } catch (const fs::filesystem_error& unseen) {  // no access or a link loop: searching on might use other data silently
      looked += " (" + (unseen.path1() == place ? "" : unseen.path1().string() + ": ") + unseen.code().message() + ")";
      break;
    }
  }
  const char* root = std::getenv("ABLATE_DATA");
  throw std::runtime_error(task + ": data = \"" + data + "\" was not found" + looked + "; expected " + expected +
                           " (ABLATE_DATA, the folder of data sets: " + (root != nullptr && *root != '\0' ? root : "not set") +
                           ")");
}

fs::path plain_or_gzipped(const fs::path& path) {
  if (fs::exists(path)) return path;
  auto zipped = path;
  zipped += ".gz";
  return fs::exists(zipped) ? zipped : fs::path();
}

std::vector<fs::path> find_files(const std::string& task, const std::string& data, const std::string& expected,
                                 std::span<const char* const> names) {
  const auto folder = find_data(task, data, expected);
  std::vector<fs::path> files;
  std::string missing;
  for (const char* name : names)
    if (files.push_back(plain_or_gzipped(folder / name)); files.back().empty())
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  if (!missing.empty())
    throw std::runtime_error(task + ": " + folder.string() + " lacks " + missing + "; expected " + expected);
  return files;
}

}  // namespace ablate
