#include "core/host/scheduler/task_memory.h"

#include <set>

#include "ablate/data_files.h"
#include "core/util/file_stamp.h"
#include "core/util/json_file.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Version of cached answers: increase it to invalidate old ones. Since version 2, generated data are in a folder for the code
/// that made them. Older answers may be about data of other code.
constexpr int kForm = 2;

/// Adds all texts except plugins' names, because any other text may name data.
void add_texts(const json& value, std::set<std::string>& texts) {
  if (value.is_string()) texts.insert(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items())
    if (key != "plugin" && key != "kind") add_texts(inner, texts);
}

/// Returns the stamps of all paths where find_data looks for the names in `asked`. An answer is outdated if a file has appeared
/// at a path that find_data tries before the path of the answer's file.
json looked_at(const json& asked) {
  std::set<std::string> texts;
  add_texts(asked, texts);
  json found = json::object();
  for (const auto& text : texts) {
    if (text.empty() || fs::path(text).is_absolute() || text.find('\0') != std::string::npos) continue;
    for (const auto& folder : data_folders())
      if (auto stamp = file_stamp(folder / text); !stamp.empty()) found[(folder / text).string()] = std::move(stamp);
  }
  return found;
}

bool are_as_stamped(const json& files) {
  for (const auto& [path, stamp] : files.items()) {
    const auto* text = stamp.get_ptr<const std::string*>();
    if (text == nullptr || text->empty() || file_stamp(path) != *text) return false;
  }
  return true;
}

bool is_remembered(const json& answer) {
  return answer.is_object() && answer.contains("files") && answer["files"].is_object() && are_as_stamped(answer["files"]);
}

}  // namespace

fs::path TaskMemory::path_of(const std::string& code, const json& asked) const {
  if (folder_.empty()) return {};
  auto folders = json::array();
  for (const auto& folder : data_folders()) folders.push_back(folder.string());
  return folder_ / (sha256(json{kForm, code, asked, folders, looked_at(asked)}.dump()) + ".json");
}

std::optional<json> TaskMemory::find(const fs::path& path) const {
  if (path.empty()) return std::nullopt;
  auto known = read_json_file(path);
  return is_remembered(known) ? std::optional(std::move(known)) : std::nullopt;
}

void TaskMemory::put(const fs::path& path, const json& answer) const {
  if (!path.empty() && is_remembered(answer)) put_json_file(path, answer);
}

void TaskMemory::forget(const fs::path& path) const {
  std::error_code absent;
  if (!path.empty()) fs::remove(path, absent);
}

}  // namespace ablate
