#include "core/registry/scan.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "core/registry/abi_check.h"
#include "core/util/error.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path home_folder(const char* variable, const char* below_home) {
  if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') return set;
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr ? home : "/tmp") / below_home;
}

/// {"files": {path: {"stamp": ..., "hash": ...}}, "hashes": {hash: PluginInfo or {"refusal": ...}}}. The stamp (size, time,
/// inode) saves hashing.
class Cache {
 public:
  Cache(fs::path file, const std::string& host) : file_(std::move(file)) {
    if (std::ifstream stream(file_); !file_.empty() && stream) content_ = json::parse(stream, nullptr, false);
    if (!content_.is_object() || content_.value("host", "") != host)
      content_ = {{"host", host}, {"files", json::object()}, {"hashes", json::object()}};
  }

  std::string hash(const fs::path& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) throw Error("cannot be read");
    const auto stamp =
        fmt::format("{} {} {}.{:09}", status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    auto& entry = content_["files"][path.string()];
    if (!entry.is_object() || entry.value("stamp", "") != stamp) {
      entry = {{"stamp", stamp}, {"hash", sha256_file(path)}};
      changed_ = true;
    }
    return entry["hash"];
  }

  const json* find(const std::string& hash) const {
    const auto found = content_["hashes"].find(hash);
    return found == content_["hashes"].end() ? nullptr : &*found;
  }

  void put(const std::string& hash, json info) {
    content_["hashes"][hash] = std::move(info);
    changed_ = true;
  }

  /// Best effort: without a writable cache everything works, only slower.
  void save() const {
    if (!changed_ || file_.empty()) return;
    std::error_code ignored;
    fs::create_directories(file_.parent_path(), ignored);
    const auto part = file_.string() + "." + std::to_string(getpid());
    if (std::ofstream stream(part); !(stream << content_)) return;
    fs::rename(part, file_, ignored);
  }

 private:
  fs::path file_;
  json content_;
  bool changed_ = false;
};

std::vector<fs::path> libraries_in(const std::vector<fs::path>& folders) {
  std::vector<fs::path> found;
  for (const auto& folder : folders) {
    std::vector<fs::path> here;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".so") here.push_back(entry.path());
    std::sort(here.begin(), here.end());
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

std::vector<std::string> warnings_for(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) != 0)
    return {"anyone can write this file (chmod o-w): what it runs can be replaced"};
  return {};
}

}  // namespace

fs::path cache_folder() { return home_folder("XDG_CACHE_HOME", ".cache") / "ablate"; }

std::vector<fs::path> plugin_folders(const std::vector<fs::path>& extra) {
  std::vector<fs::path> all = extra;
  if (const char* list = std::getenv("ABLATE_PLUGIN_PATH")) {
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ':');)
      if (!part.empty()) all.emplace_back(part);
  }
  all.push_back(home_folder("XDG_DATA_HOME", ".local/share") / "ablate/plugins");
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored);
  all.push_back(program.parent_path().parent_path() / "lib/ablate/plugins");
  std::vector<fs::path> unique;
  for (const auto& folder : all) {
    const auto whole = fs::weakly_canonical(folder, ignored);
    if (std::find(unique.begin(), unique.end(), whole) == unique.end()) unique.push_back(whole);
  }
  return unique;
}

std::vector<FoundLibrary> scan(const std::vector<fs::path>& folders, const std::string& torch_version, const Inspect& inspect,
                               const fs::path& cache_file) {
  Cache cache(cache_file, fmt::format("sdk {} descriptor {} torch {}", ABLATE_SDK_VERSION, sizeof(Descriptor), torch_version));
  std::vector<FoundLibrary> found;
  std::vector<std::string> hashes;
  std::vector<fs::path> unknown;
  for (const auto& path : libraries_in(folders)) {
    FoundLibrary library{.path = path, .warnings = warnings_for(path)};
    std::string hash;
    // The stamp is checked every time: it is cheap, and the cache must not vouch for a file that is not what it was.
    library.refusal = abi_refusal(path, torch_version);
    if (library.refusal.empty()) {
      hash = cache.hash(path);
      if (cache.find(hash) == nullptr) unknown.push_back(path);
    }
    found.push_back(std::move(library));
    hashes.push_back(hash);
  }
  if (!unknown.empty()) {
    const auto answers = inspect(unknown);
    for (std::size_t i = 0; i < unknown.size(); ++i) cache.put(cache.hash(unknown[i]), answers.at(i));
  }
  cache.save();
  std::map<std::string, fs::path> taken;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& library = found[i];
    if (!library.refusal.empty()) continue;
    const json& known = *cache.find(hashes[i]);
    if (known.contains("refusal")) {
      library.refusal = known["refusal"];
      continue;
    }
    library.info = plugin_info_from_json(known);
    library.info.path = library.path;
    library.info.content_hash = hashes[i];
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
    if (library.refusal.empty()) catalog.plugins.push_back(library.info);
  return catalog;
}

}  // namespace ablate
