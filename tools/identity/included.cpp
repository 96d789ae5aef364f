#include "tools/identity/included.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

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

/// @param folder, file canonical
bool is_below(const fs::path& folder, const fs::path& file) {
  const auto relative = file.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

struct Included::Visit {
  const std::vector<fs::path>& folders;
  std::set<fs::path> seen;
  std::string code;
};

Included::Included(const fs::path& sdk, const std::vector<fs::path>& system) : sdk_(fs::weakly_canonical(sdk)) {
  for (const auto& folder : system) system_.push_back(fs::weakly_canonical(folder));
}

std::string Included::code_of(const fs::path& file, const std::vector<fs::path>& folders) {
  std::vector<fs::path> all{sdk_};
  all.insert(all.end(), folders.begin(), folders.end());
  Visit started{all, {}, {}};
  visit(fs::weakly_canonical(file), started);
  return std::move(started.code);
}

void Included::visit(const fs::path& file, Visit& visit) {
  if (!visit.seen.insert(file).second) return;
  auto known = read_.find(file);
  if (known == read_.end()) {
    known = read_.emplace(file, read_code(content_of(file))).first;
    if (is_below(sdk_ / "ablate", file)) sdk_headers_[file.lexically_relative(sdk_).string()] = sha256(known->second.tokens);
  }
  const auto& code = known->second;
  // Its size before it, so that no two sequences of files read the same.
  visit.code += std::to_string(code.tokens.size()) + '\n' + code.tokens;
  for (const auto& include : code.includes)
    if (include.name.empty())
      unknown_.insert(file);
    else if (const auto found = find(include, file, visit.folders))
      this->visit(*found, visit);
}

bool Included::is_ours(const fs::path& file) const {
  if (is_below(sdk_ / "ablate", file)) return true;
  for (const auto& folder : system_)
    if (is_below(folder, file)) return false;
  return true;
}

std::optional<fs::path> Included::find(const Include& include, const fs::path& from,
                                       const std::vector<fs::path>& folders) const {
  const auto at = [&](const fs::path& folder) -> std::optional<fs::path> {
    std::error_code absent;
    const auto file = fs::canonical(folder / include.name, absent);
    if (absent || !fs::is_regular_file(file, absent) || !is_ours(file)) return std::nullopt;
    return file;
  };
  if (include.is_quoted)
    if (auto found = at(from.parent_path())) return found;
  for (const auto& folder : folders)
    if (auto found = at(folder)) return found;
  return std::nullopt;
}

}  // namespace ablate::identity
