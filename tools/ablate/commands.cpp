#include "tools/ablate/commands.h"

#include <cstdlib>

#include "core/host/scheduler/start_worker.h"
#include "core/util/error.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

constexpr double kInspectTimeout = 20;  ///< seconds that a library may take to load and to describe itself

}  // namespace

std::filesystem::path Options::database_file() const {
  if (!database.empty()) return database;
  if (const char* set = std::getenv("ABLATE_DB"); set != nullptr && *set != '\0') return set;
  return kDefaultDatabase;
}

nlohmann::json inspect_library(const std::filesystem::path& path, std::unique_ptr<WorkerClient>& worker) {
  try {
    return ask_worker(worker, "inspect", {{"path", path.string()}}, kInspectTimeout);
  } catch (const WorkerEnded& ended) {
    return {{"failed", std::string("took the worker with it while it was loaded: ") + ended.what()}};
  }
}

std::vector<FoundLibrary> find_libraries(const Options& options, std::unique_ptr<WorkerClient>& worker) {
  std::vector<std::filesystem::path> folders;
  std::error_code unseen;  // a link to itself
  for (const auto& folder : options.plugins) {
    if (!std::filesystem::is_directory(folder, unseen))
      throw Error("--plugins " + folder + ": " +
                  (std::filesystem::exists(folder, unseen) ? "is a file"
                   : unseen                                ? unseen.message()
                                                           : "no such folder") +
                  "; it takes a folder that holds plugin libraries (*.so)");
    folders.emplace_back(folder);
  }
  const auto looked_in = plugin_folders(folders);
  for (const auto& folder : looked_in)
    if (!folder.owner && !std::filesystem::is_directory(folder.path, unseen))
      say("warning: ABLATE_PLUGIN_PATH names {}, which is no folder\n", path_text(folder.path));
  const auto inspect = [&](const std::vector<std::filesystem::path>& paths) {
    std::vector<nlohmann::json> answers;
    for (const auto& path : paths) answers.push_back(inspect_library(path, worker));
    return answers;
  };
  const auto cache = cache_folder();
  return scan(looked_in, ABLATE_TORCH_VERSION, inspect, cache.empty() ? cache : cache / "plugins.json");
}

}  // namespace ablate
