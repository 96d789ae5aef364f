#include "tools/ablate/commands.h"

#include <cstdlib>

#include "core/util/error.h"

namespace ablate {

std::filesystem::path Options::database_file() const {
  if (!database.empty()) return database;
  if (const char* set = std::getenv("ABLATE_DB"); set != nullptr && *set != '\0') return set;
  return "ablate.db";
}

std::vector<FoundLibrary> find_libraries(const Options& options, std::unique_ptr<WorkerClient>& worker) {
  std::vector<std::filesystem::path> folders;
  for (const auto& folder : options.plugins) {
    if (!std::filesystem::is_directory(folder))
      throw Error("--plugins " + folder + ": no such folder; it takes a folder that holds plugin libraries (*.so)");
    folders.emplace_back(folder);
  }
  const auto inspect = [&](const std::vector<std::filesystem::path>& paths) {
    if (!worker) worker = std::make_unique<WorkerClient>();
    std::vector<nlohmann::json> answers;
    for (const auto& path : paths) {
      auto answer = worker->ask("inspect", {{"path", path.string()}});
      if (answer.contains("failed")) answer = {{"refusal", answer.at("failed")}};
      answers.push_back(std::move(answer));
    }
    return answers;
  };
  return scan(plugin_folders(folders), ABLATE_TORCH_VERSION, inspect, cache_folder() / "plugins.json");
}

}  // namespace ablate
