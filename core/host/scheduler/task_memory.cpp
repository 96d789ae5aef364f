#include "core/host/scheduler/task_memory.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "core/util/kept_json.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// {path: "inode size time"}; null where one of them cannot be looked at.
json stamps_of(const json& files) {
  json stamps = json::object();
  for (const auto& file : files) {
    struct stat status {};
    const std::string path = file;
    if (stat(path.c_str(), &status) != 0) return nullptr;
    stamps[path] = fmt::format("{} {} {}.{:09}", status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return stamps;
}

}  // namespace

fs::path TaskMemory::place(const std::string& code, const json& question) const {
  std::error_code gone;
  return folder_ / (sha256(json{code, question, fs::current_path(gone).string()}.dump()) + ".json");
}

std::optional<json> TaskMemory::find(const std::string& code, const json& question) const {
  if (folder_.empty()) return std::nullopt;
  const auto known = read_kept(place(code, question));
  if (!known.is_object() || !known.contains("answer") || !known["answer"].is_object() || !known.contains("stamps") ||
      !known["stamps"].is_object())
    return std::nullopt;  // damaged
  const auto& answer = known["answer"];
  return stamps_of(answer.value("files", json::array())) == known["stamps"] ? std::optional(answer) : std::nullopt;
}

void TaskMemory::put(const std::string& code, const json& question, const json& answer) const {
  if (folder_.empty() || !answer.contains("files")) return;
  const auto stamps = stamps_of(answer["files"]);
  if (stamps.is_null()) return;
  keep(place(code, question), {{"answer", answer}, {"stamps", stamps}});
}

void TaskMemory::forget(const std::string& code, const json& question) const {
  std::error_code absent;
  if (!folder_.empty()) fs::remove(place(code, question), absent);
}

}  // namespace ablate
