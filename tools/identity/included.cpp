#include "tools/identity/included.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/util/error.h"
#include "core/util/sha256.h"

namespace ablate::identity {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error("cannot read " + file.string() + ": " + std::strerror(errno));
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Where the compiler looks beside its options; an empty entry is the working folder, where nobody builds on purpose.
std::vector<fs::path> folders_of_environment() {
  std::vector<fs::path> folders;
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    const char* const value = std::getenv(name);
    std::istringstream list(value == nullptr ? "" : value);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) folders.push_back(fs::weakly_canonical(folder));
  }
  return folders;
}

/// @param folder, file canonical
bool is_below(const fs::path& folder, const fs::path& file) {
  const auto relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

struct Included::Visit {
  const std::vector<fs::path>& folders;
  bool may_lack;
  std::set<fs::path> read;                           ///< canonical
  std::set<std::pair<fs::path, fs::path>> followed;  ///< files, and the folders beside them
  std::string code;
};

Included::Included(const fs::path& sdk, const std::vector<fs::path>& system)
    : sdk_(fs::weakly_canonical(sdk)), environment_(folders_of_environment()) {
  // CMake takes the environment's folders for the compiler's own.
  for (const auto& folder : system)
    if (auto path = fs::weakly_canonical(folder);
        std::find(environment_.begin(), environment_.end(), path) == environment_.end())
      system_.push_back(std::move(path));
}

std::string Included::code_of(const fs::path& file, const std::vector<fs::path>& folders, bool may_lack) {
  std::vector<fs::path> all{sdk_};
  all.insert(all.end(), folders.begin(), folders.end());
  all.insert(all.end(), environment_.begin(), environment_.end());
  all.insert(all.end(), system_.begin(), system_.end());
  Visit started{all, may_lack, {}, {}, {}};
  visit(file, started);
  return std::move(started.code);
}

void Included::visit(const fs::path& named, Visit& visit) {
  const auto file = fs::weakly_canonical(named);
  // One compiler looks beside the link, another beside the file that it leads to: both count.
  std::vector<fs::path> beside{file.parent_path()};
  if (auto folder = fs::weakly_canonical(fs::absolute(named).parent_path()); folder != beside[0])
    beside.push_back(std::move(folder));
  if (!visit.followed.emplace(file, beside.back()).second) return;
  auto known = read_.find(file);
  if (known == read_.end()) {
    known = read_.emplace(file, read_code(content_of(file))).first;
    if (is_below(sdk_ / "ablate", file)) sdk_headers_[file.lexically_relative(sdk_).string()] = sha256(known->second.tokens);
  }
  const auto& code = known->second;
  // Its size before it, so that no two sequences of files read the same.
  if (visit.read.insert(file).second) visit.code += std::to_string(code.tokens.size()) + '\n' + code.tokens;
  for (const char* directive : {".incbin", ".\nincbin\n"})  // in a text, and in an assembler's source
    if (code.tokens.find(directive) != std::string::npos)
      unknown_.insert(file.string() + ": includes a file by .incbin, which is not followed");
  for (const auto& include : code.includes) {
    if (include.name.empty()) {
      unknown_.insert(file.string() + ": includes what only a macro says, which is not followed");
      continue;
    }
    auto folders = include.is_quoted ? beside : std::vector<fs::path>();
    folders.insert(folders.end(), visit.folders.begin(), visit.folders.end());
    const auto found = find(include, file, folders);
    if (found.empty() && !visit.may_lack)
      unknown_.insert(file.string() + ": includes " + include.name + ", which was not found");
    for (const auto& header : found)
      if (is_ours(fs::canonical(header))) this->visit(header, visit);
  }
}

bool Included::is_ours(const fs::path& file) const {
  if (is_below(sdk_ / "ablate", file)) return true;
  for (const auto& folder : system_)
    if (is_below(folder, file)) return false;
  return true;
}

std::vector<fs::path> Included::find(const Include& include, const fs::path& from, const std::vector<fs::path>& folders) const {
  std::vector<fs::path> found;
  const auto look = [&](const fs::path& folder) {
    std::error_code absent;
    const auto file = fs::canonical(folder / include.name, absent);
    if (!absent && fs::is_regular_file(file, absent) && !(include.is_next && file == from))
      found.push_back(folder / include.name);
  };
  for (const auto& folder : folders) look(folder);
  return found;
}

}  // namespace ablate::identity
