#include "core/host/launch/libraries.h"

#include "core/registry/folders.h"

namespace ablate {
namespace {

constexpr double kInspect_s = 20;  ///< longest time for a library to load and to describe itself

}  // namespace

nlohmann::json inspect_library(const std::filesystem::path& path, Executors& executors) {
  const auto answered = executors.ask(InspectJob{path.string()}, kInspect_s);
  if (answered.answer) return to_json(*answered.answer);
  return {{"failed", answered.failed}, {"late", answered.late}};
}

std::vector<FoundLibrary> scan_libraries(const std::vector<PluginFolder>& folders, Executors& executors) {
  const auto inspect = [&](const std::vector<std::filesystem::path>& paths) {
    std::vector<nlohmann::json> answers;
    for (const auto& path : paths) answers.push_back(inspect_library(path, executors));
    return answers;
  };
  const auto cache = cache_folder();
  return scan(folders, ABLATE_TORCH_VERSION, inspect, cache.empty() ? cache : cache / "plugins.json");
}

}  // namespace ablate
