#include "core/host/scheduler/model_sizes.h"

#include <fmt/format.h>

#include "core/host/study/used_plugins.h"
#include "core/shared/build_identity.h"
#include "core/shared/sizes_job.h"

namespace ablate {
namespace {

using nlohmann::json;

std::vector<ModelSizes> sizes_in(const json& answer, std::size_t models) {
  const auto counted = from_json<CountedSizes>(answer);
  if (counted.sizes.size() != models)
    throw BadMessage(fmt::format("{}: sizes: found {}, expected {}", CountedSizes::kName, counted.sizes.size(), models));
  std::vector<ModelSizes> all;
  for (const auto& [parameters, state_bytes, refused] : counted.sizes) all.push_back({parameters, state_bytes, refused});
  return all;
}

}  // namespace

std::vector<ModelSizes> model_sizes(const std::vector<Trial>& trials, const Catalog& catalog, Executors& executors,
                                    const TaskMemory& memory, double limit_s) {
  CountSizesJob job;
  std::string code;
  auto asked = json::array();
  for (const auto& trial : trials) {
    job.models.push_back(trial.spec);
    asked.push_back({{"trial", to_json(trial.spec)}, {"files", trial.files}});
    for (const auto& use : used_plugins(trial.spec, catalog))
      if (job.libraries.hashes.emplace(use.info->path.string(), use.info->content_hash).second)
        code += use.info->code_identity();
  }
  for (const auto& [path, hash] : job.libraries.hashes) job.libraries.paths.push_back(path);
  const auto path = memory.path_of(code, {{"kind", CountSizesJob::kName}, {"models", asked}, {"build", build_identity()}});
  const auto read_known = [&](const json& known) { return sizes_in(known, trials.size()); };
  if (auto known = memory.find(path, read_known)) return *known;
  const auto answered = executors.ask(job, limit_s);
  if (!answered.answer)
    throw Error(fmt::format("counting what models of {} have: {}", trials.front().spec.task.id, answered.failed),
                answered.fault ? ExitCode::kPlugin : ExitCode::kUsage);
  const auto text = to_json(*answered.answer);
  memory.put(path, text);
  return sizes_in(text, trials.size());
}

}  // namespace ablate
