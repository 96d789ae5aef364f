#include "core/trial/server/planned_library.h"

#include "core/registry/abi_check.h"
#include "core/registry/library.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

void check_content(const std::filesystem::path& path, const std::map<std::string, std::string>& hashes) {
  if (const auto planned = hashes.find(path.string());
      planned != hashes.end() && planned->second != sha256_file(path, kMostLibraryBytes))
    throw LibraryReplaced(path);
}

}  // namespace

LibraryReplaced::LibraryReplaced(const std::filesystem::path& path)
    : Error(path.string() + " was replaced after ablate read it: run the command again", ExitCode::kPlugin) {}

const Descriptor& load_as_planned(const std::filesystem::path& path, const std::map<std::string, std::string>& hashes,
                                  const std::function<void()>& put_back) {
  // The first check keeps unknown code from running. The second check proves that this content was loaded.
  check_content(path, hashes);
  const auto& descriptor = load_library(path);
  if (put_back) put_back();
  check_content(path, hashes);
  return descriptor;
}

}  // namespace ablate
