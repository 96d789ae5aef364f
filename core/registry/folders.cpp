#include "core/registry/folders.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// "" where there is none.
fs::path home() {
  if (const char* set = std::getenv("HOME"); set != nullptr && *set != '\0') return set;
  const passwd* user = getpwuid(geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "";
}

/// $VARIABLE, else a folder below the home; "" where there is neither.
fs::path own_folder(const char* variable, const char* below_home) {
  if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') return set;
  const auto base = home();
  return base.empty() ? fs::path() : base / below_home;
}

}  // namespace

fs::path cache_folder() {
  const auto base = own_folder("XDG_CACHE_HOME", ".cache");
  return base.empty() ? base : base / "ablate";
}

std::vector<PluginFolder> plugin_folders(const std::vector<fs::path>& extra) {
  std::vector<PluginFolder> all;
  for (const auto& folder : extra) all.push_back({folder, std::nullopt});
  if (const char* list = std::getenv("ABLATE_PLUGIN_PATH")) {
    std::istringstream parts(list);
    for (std::string part; std::getline(parts, part, ':');)
      if (!part.empty()) all.push_back({part, std::nullopt});
  }
  if (const auto data = own_folder("XDG_DATA_HOME", ".local/share"); !data.empty())
    all.push_back({data / "ablate/plugins", geteuid()});
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored);
  struct stat status {};
  // Whoever could replace the program itself may as well have its plugins.
  const uid_t owner = stat(program.c_str(), &status) == 0 ? status.st_uid : geteuid();
  all.push_back({program.parent_path().parent_path() / "lib/ablate/plugins", owner});
  std::vector<PluginFolder> unique;
  for (auto& folder : all) {
    std::error_code unseen;  // a link to itself stays what it is called
    if (auto canonical = fs::weakly_canonical(folder.path, unseen); !unseen) folder.path = std::move(canonical);
    const auto same = [&](const PluginFolder& other) { return other.path == folder.path; };
    if (std::none_of(unique.begin(), unique.end(), same)) unique.push_back(folder);
  }
  return unique;
}

bool anyone_can_write(const fs::path& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) != 0;
}

std::string trust_refusal(const PluginFolder& folder, const fs::path& library) {
  if (!folder.owner) return "";
  const auto refuse = [&](const fs::path& at, const std::string& why, const std::string& mend) {
    return fmt::format("{} {}; {}, or name {} with --plugins if you trust it", at.string(), why, mend, folder.path.string());
  };
  for (const auto& at : {library, folder.path}) {
    if (anyone_can_write(at)) return refuse(at, "can be written by anyone", "chmod o-w it");
    struct stat status {};
    if (stat(at.c_str(), &status) != 0) continue;  // told when it is read
    if (status.st_uid != 0 && status.st_uid != geteuid() && status.st_uid != *folder.owner)
      return refuse(at, fmt::format("belongs to user {}, who is neither root nor you", status.st_uid), "make it yours");
  }
  // Where anyone can rename a folder above, anyone can put another in its place; a sticky one (/tmp) forbids that.
  for (auto above = folder.path.parent_path();; above = above.parent_path()) {
    std::error_code none;
    if (anyone_can_write(above) && (fs::status(above, none).permissions() & fs::perms::sticky_bit) == fs::perms::none)
      return refuse(above, "can be written by anyone", "chmod o-w it");
    if (above == above.parent_path()) return "";
  }
}

}  // namespace ablate
