#include "tools/ablate/commands.h"

#include <fmt/ranges.h>

#include <cstdlib>

#include "core/host/launch/libraries.h"
#include "core/registry/abi_check.h"
#include "core/util/error.h"
#include "core/util/sha256.h"
#include "core/util/shell_word.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {

std::filesystem::path Options::named_database() const {
  const char* set = std::getenv("ABLATE_DB");
  return database.empty() && set != nullptr ? std::filesystem::path(set) : std::filesystem::path(database);
}

std::filesystem::path Options::database_file() const {
  const auto named = named_database();
  return named.empty() ? kDefaultDatabase : named;
}

std::vector<FoundLibrary> find_libraries(const Options& options, Executors& executors) {
  std::vector<std::filesystem::path> folders;
  std::error_code unseen;  // set for a link to itself
  for (const auto& folder : options.plugins) {
    if (!std::filesystem::is_directory(folder, unseen))
      throw Error("--plugins " + folder + ": " +
                  (std::filesystem::exists(folder, unseen) ? "is a file"
                   : unseen                                ? unseen.message()
                                                           : "no such folder") +
                  "; expected a folder of plugin libraries (*.so)");
    folders.emplace_back(folder);
  }
  const auto looked_in = plugin_folders(folders);
  for (const auto& folder : looked_in)
    if (!folder.owner && !std::filesystem::is_directory(folder.path, unseen))
      say("warning: ABLATE_PLUGIN_PATH names {}, which is no folder\n", path_text(folder.path));
  return scan_libraries(looked_in, executors);
}

Catalog usable(const std::vector<FoundLibrary>& libraries, const Options& options) {
  auto catalog = catalog_of(libraries);
  catalog.where_looked = [&options](const std::string& id) { return where_plugins_are(options, id); };
  return catalog;
}

bool is_path(const std::string& name) { return name.find('/') != std::string::npos || name.ends_with(".so"); }

FoundLibrary library_at(const std::filesystem::path& path, Executors& executors) {
  const auto refuse = [&](const std::string& why) {
    return Error(fmt::format("{} cannot be loaded: {}", path.string(), why), ExitCode::kPlugin);
  };
  std::error_code unseen;  // set for a link to itself
  if (!std::filesystem::exists(path, unseen)) {
    if (unseen) throw refuse(unseen.message());
    throw Error(fmt::format("{}: no such file; expected a plugin library (*.so)", path.string()));
  }
  if (const auto why = abi_refusal(path, ABLATE_TORCH_VERSION); !why.empty()) throw refuse(why);
  const auto answer = inspect_library(path, executors);
  for (const auto* reason : {"failed", "refusal"})
    if (answer.contains(reason)) throw refuse(answer.at(reason));
  FoundLibrary library{.path = path, .info = plugin_info_from_json(answer)};
  library.info.path = path;
  library.info.content_hash = sha256_file(path);
  return library;
}

namespace {

/// Returns the command that builds a plugin of the source tree, if the folder `plugins` belongs to a build of that tree
/// (BUILD/lib/ablate/plugins). Otherwise, and if the tree has no folder plugins/ID, returns "".
std::string build_command(const std::filesystem::path& plugins, const std::string& id) {
  const auto build = plugins.parent_path().parent_path().parent_path();
  const auto source = build.parent_path().parent_path();
  std::error_code none;
  if (id.empty() || is_path(id) || plugins != build / "lib/ablate/plugins" || source / "build" != build.parent_path() ||
      !std::filesystem::exists(build / "CMakeCache.txt", none) ||
      !std::filesystem::exists(source / "plugins" / id / "CMakeLists.txt", none))
    return "";
  return fmt::format("cmake --build --preset {} --target {}", shell_word(build.filename().string()), id);
}

}  // namespace

std::string where_plugins_are(const Options& options, const std::string& id) {
  std::vector<std::string> folders;
  for (const auto& folder : plugin_folders({options.plugins.begin(), options.plugins.end()})) {
    if (const auto command = build_command(folder.path, id); !command.empty())
      return fmt::format("it is not built yet: `{}` builds it", command);
    folders.push_back(path_text(folder.path));
  }
  const auto looked = fmt::format("looked in {}", fmt::join(folders, ", "));
  for (const auto& folder : {std::string("."), std::string("build"), id + "/build"})
    if (std::error_code none; std::filesystem::is_regular_file(std::filesystem::path(folder) / (id + ".so"), none))
      return fmt::format("{}; {}/{}.so is there: --plugins {}", looked, folder, id, shell_word(folder));
  return looked + "; --plugins DIR (or ABLATE_PLUGIN_PATH) adds a folder, such as a plugin's build folder";
}

}  // namespace ablate
