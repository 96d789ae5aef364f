#include "core/registry/scan.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <set>

#include "core/registry/abi_check.h"
#include "core/util/error.h"
#include "core/util/file_stamp.h"
#include "core/util/json_file.h"
#include "core/util/sha256.h"
#include "core/util/shell_word.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kTriedAgain_s = 3600;  ///< from a hang to the next try: a slow disk may have caused the hang

/// Answer for a library: a plugin, or a refusal.
struct Answer {
  PluginInfo info;
  std::string refusal;
};

/// Returns nullopt if the JSON is no answer, as in a damaged cache.
std::optional<Answer> read_answer(const json& answer) {
  try {
    for (const char* key : {"refusal", "failed"})
      if (answer.contains(key)) return Answer{{}, answer.at(key)};
    return Answer{plugin_info_from_json(answer), ""};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

/// File: {"files": {path: {"stamp": ..., "hash": ..., "hung": {"why": ..., "at_s": ...}}}, "hashes": {hash: PluginInfo or
/// {"refusal": ...}}, "sum": ...}. The stamp (size, times, inode) saves hashing. A library that hung when loaded costs many
/// seconds: it is tried again after an hour or if its stamp changes. Content with a wrong sum is dropped: trials' keys leave
/// out default values, so an edited default in this file would give other numbers under the old keys.
class Cache {
 public:
  Cache(fs::path file, const std::string& host) : file_(std::move(file)) {
    if (!file_.empty()) content_ = read_json_file(file_);
    const auto is_object = [&](const char* part) { return content_.contains(part) && content_[part].is_object(); };
    const auto is_intact = [&] {
      const auto sum = content_.value(kSum, json());
      content_.erase(kSum);
      return sum == json(sum_of(content_));
    };
    if (!content_.is_object() || content_.value("host", json()) != json(host) || !is_object("files") || !is_object("hashes") ||
        !is_intact())
      content_ = {{"host", host}, {"files", json::object()}, {"hashes", json::object()}};
  }

  std::string hash(const fs::path& path) {
    const auto stamp = file_stamp(path);
    if (stamp.empty()) throw Error("cannot read " + path.string() + ": " + std::strerror(errno));
    auto& entry = content_["files"][path.string()];
    if (!entry.is_object() || entry.value("stamp", json()) != json(stamp) || !entry.contains("hash") ||
        !entry["hash"].is_string()) {
      entry = {{"stamp", stamp}, {"hash", sha256_file(path, kMostLibraryBytes, stop_if_asked)}};
      changed_ = true;
    }
    return entry["hash"];
  }

  /// Returns the remembered hash; "" if hash() would have to read the file again.
  std::string known_hash(const fs::path& path) const {
    const auto entry = content_["files"].find(path.string());
    if (entry == content_["files"].end() || !entry->is_object()) return "";
    const auto stamp = file_stamp(path);
    const auto hash = entry->value("hash", json());
    return stamp.empty() || entry->value("stamp", json()) != json(stamp) || !hash.is_string() ? "" : hash.get<std::string>();
  }

  std::optional<Answer> find(const std::string& hash) const {
    const auto found = content_["hashes"].find(hash);
    return found == content_["hashes"].end() ? std::nullopt : read_answer(*found);
  }

  void put(const std::string& hash, json info) {
    content_["hashes"][hash] = std::move(info);
    changed_ = true;
  }

  /// Call hash() first.
  void put_hung(const fs::path& path, const std::string& why) {
    content_["files"][path.string()]["hung"] = {{"why", why}, {"at_s", std::time(nullptr)}};
    changed_ = true;
  }

  /// Call hash() first. Returns a refusal, or nullopt if the library may be tried.
  std::optional<Answer> hung(const fs::path& path) const {
    const auto hung = content_["files"][path.string()].value("hung", json::object());
    if (!hung.is_object() || !hung.contains("why") || !hung["why"].is_string()) return std::nullopt;
    if (!hung.contains("at_s") || !hung["at_s"].is_number_integer()) return std::nullopt;
    const auto at_s = hung["at_s"].get<std::int64_t>(), now_s = static_cast<std::int64_t>(std::time(nullptr));
    if (at_s > now_s || now_s - at_s >= kTriedAgain_s) return std::nullopt;
    return Answer{
        {},
        fmt::format("{} when it was loaded, at {:%H:%M}; it is tried again after an hour, or after `touch {}`",
                    hung["why"].get<std::string>(), fmt::localtime(static_cast<std::time_t>(at_s)), shell_word(path.string()))};
  }

  /// Best effort: without a writable cache everything works more slowly.
  void save() const {
    if (!changed_ || file_.empty()) return;
    auto whole = content_;
    whole[kSum] = sum_of(content_);
    put_json_file(file_, whole);
  }

 private:
  static constexpr const char* kSum = "sum";
  static std::string sum_of(const json& content) {
    return sha256(content.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  fs::path file_;
  json content_;
  bool changed_ = false;
};

/// Versions of the program that writes the cache. A program with other versions does not use the cache.
std::string host_text(const std::string& torch_version) {
  return fmt::format("checks 2 sdk {} descriptor {} torch {}", ABLATE_SDK_VERSION, sizeof(Descriptor), torch_version);
}

std::vector<std::string> warnings_for(const fs::path& path) {
  if (anyone_can_write(path)) return {"anyone can write this file and replace its code: run chmod o-w"};
  return {};
}

std::vector<FoundLibrary> libraries_in(const std::vector<PluginFolder>& folders) {
  std::vector<FoundLibrary> found;
  for (const auto& folder : folders) {
    std::vector<fs::path> here;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder.path, ignored))
      if (entry.path().extension() == ".so") here.push_back(entry.path());
    std::sort(here.begin(), here.end());
    for (const auto& path : here)
      found.push_back({.path = path, .refusal = trust_refusal(folder, path), .warnings = warnings_for(path)});
  }
  return found;
}

}  // namespace

std::vector<PluginInfo> remembered(const std::vector<PluginFolder>& folders, const std::string& torch_version,
                                   const fs::path& cache_file) {
  const Cache cache(cache_file, host_text(torch_version));
  std::vector<PluginInfo> plugins;
  std::set<std::pair<Kind, std::string>> taken;
  for (const auto& library : libraries_in(folders)) {
    if (!library.refusal.empty()) continue;
    const auto hash = cache.known_hash(library.path);
    const auto answer = hash.empty() ? std::nullopt : cache.find(hash);
    if (answer && answer->refusal.empty() && taken.emplace(answer->info.kind, answer->info.id).second)
      plugins.push_back(answer->info);
  }
  return plugins;
}

std::vector<FoundLibrary> scan(const std::vector<PluginFolder>& folders, const std::string& torch_version,
                               const Inspect& inspect, const fs::path& cache_file) {
  Cache cache(cache_file, host_text(torch_version));
  auto found = libraries_in(folders);
  std::vector<std::size_t> unknown;
  const auto take = [&](FoundLibrary& library, const std::optional<Answer>& answer, const std::string& hash) {
    library.info = answer ? answer->info : PluginInfo{};
    library.refusal = answer ? answer->refusal : "the process that loaded it returned no valid description";
    library.info.path = library.path;
    library.info.content_hash = hash;
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& library = found[i];
    if (!library.refusal.empty()) continue;
    // The ABI stamp is checked every time: the check is cheap, and a cached answer must not be used for a changed file.
    library.refusal = abi_refusal(library.path, torch_version);
    if (!library.refusal.empty()) continue;
    try {
      const auto hash = cache.hash(library.path);
      auto answer = cache.find(hash);
      if (!answer) answer = cache.hung(library.path);
      if (!answer) unknown.push_back(i);
      take(library, answer, hash);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      library.refusal = error.what();
    }
  }
  if (!unknown.empty()) {
    std::vector<fs::path> paths;
    for (const auto at : unknown) paths.push_back(found[at].path);
    const auto answers = inspect(paths);
    for (std::size_t i = 0; i < unknown.size(); ++i) {
      auto& library = found[unknown[i]];
      const auto hash = library.info.content_hash;
      const auto answer = read_answer(answers.at(i));
      take(library, answer, hash);
      std::error_code gone;
      if (!fs::exists(library.path, gone) || cache.hash(library.path) != hash)
        library.refusal = "it was replaced during the scan: try again";
      else if (answer && !answers[i].contains("failed"))
        cache.put(hash, answers[i]);
      else if (answer && answers[i].value("late", false))
        cache.put_hung(library.path, answer->refusal), take(library, cache.hung(library.path), hash);
    }
  }
  cache.save();
  std::map<std::string, fs::path> taken;
  for (auto& library : found) {
    if (!library.refusal.empty()) continue;
    const auto name = fmt::format("{} {}", to_text(library.info.kind), library.info.id);
    const auto [first, is_new] = taken.emplace(name, library.path);
    if (!is_new)
      library.refusal = fmt::format("its id, {}, is taken by {}, which was found first", name, first->second.string());
  }
  return found;
}

Catalog catalog_of(const std::vector<FoundLibrary>& libraries) {
  Catalog catalog;
  for (const auto& library : libraries)
    if (library.refusal.empty())
      catalog.plugins.push_back(library.info);
    else
      catalog.refused.push_back({library.path, library.refusal});
  return catalog;
}

}  // namespace ablate
