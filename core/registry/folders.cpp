#include "core/registry/folders.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <sstream>

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// Returns the user's home folder, or "" if there is none.
fs::path home() {
  if (const char* set = std::getenv("HOME"); set != nullptr && *set != '\0') return set;
  const passwd* user = getpwuid(geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "";
}

/// Returns $VARIABLE, else a folder below the home; "" if there is neither.
fs::path own_folder(const char* variable, const char* below_home) {
  if (const char* set = std::getenv(variable); set != nullptr && *set != '\0') return set;
  const auto base = home();
  return base.empty() ? fs::path() : base / below_home;
}

/// Folders and links on the way to a file, each link followed.
struct Way {
  std::vector<fs::path> folders;  ///< folders of all names on the way: a user who can rename there can change the target
  std::vector<fs::path> links;    ///< links to the file itself, and last the file
};

Way way_to(const fs::path& file) {
  constexpr int kMostLinks = 40;  // the kernel's limit
  Way way;
  const auto absolute = fs::absolute(file);
  std::deque<fs::path> names(absolute.begin(), absolute.end());
  fs::path at = "/";
  for (int links = 0; !names.empty() && links <= kMostLinks;) {
    const auto name = names.front();
    names.pop_front();
    if (name.is_absolute()) at = "/";
    if (name.is_absolute() || name.empty() || name == ".") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    way.folders.push_back(at);
    const auto next = at / name;
    if (names.empty()) way.links.push_back(next);
    std::error_code none;
    if (!fs::is_symlink(next, none)) {
      at = next;
      continue;
    }
    ++links;
    const auto target = fs::read_symlink(next, none);
    names.insert(names.begin(), target.begin(), target.end());
  }
  return way;
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
  // A user who can replace the program itself may also add plugins.
  const uid_t owner = stat(program.c_str(), &status) == 0 ? status.st_uid : geteuid();
  all.push_back({program.parent_path().parent_path() / "lib/ablate/plugins", owner});
  std::vector<PluginFolder> unique;
  for (auto& folder : all) {
    std::error_code unseen;  // on an error (a link to itself) the path stays unchanged
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
  const auto way = way_to(library);
  // The library, the links to it, and their folders: only root, the user and the folder's owner may write or own them.
  std::vector<fs::path> own{library, folder.path};
  for (const auto& at : way.links)
    for (const auto& one : {at, at.parent_path()})
      if (std::find(own.begin(), own.end(), one) == own.end()) own.push_back(one);
  for (const auto& at : own) {
    if (anyone_can_write(at)) return refuse(at, "can be written by anyone", "run chmod o-w on it");
    for (const auto look : {&::stat, &::lstat}) {
      struct stat status {};
      if (look(at.c_str(), &status) != 0) continue;  // reported when the library is read
      if (status.st_uid != 0 && status.st_uid != geteuid() && status.st_uid != *folder.owner)
        return refuse(at, fmt::format("belongs to user {}, who is neither root nor you", status.st_uid), "make it yours");
    }
  }
  // If everybody can rename a folder above, everybody can replace it. A sticky folder (/tmp) forbids that.
  for (const auto& above : way.folders) {
    std::error_code none;
    if (anyone_can_write(above) && (fs::status(above, none).permissions() & fs::perms::sticky_bit) == fs::perms::none)
      return refuse(above, "can be written by anyone", "run chmod o-w on it");
  }
  return "";
}

}  // namespace ablate
