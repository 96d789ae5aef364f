#include "core/host/scheduler/places.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "core/host/study/diagnostics.h"
#include "core/host/study/path.h"
#include "core/host/study/start_checks.h"
#include "core/host/study/used_plugins.h"
#include "core/records/setting_paths.h"
#include "core/shared/sections.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

using nlohmann::json;

/// What is asked of the same plugins at once.
struct AskedPlaces {
  std::string code;
  TryPlacesJob job;
  json places = json::array();       ///< {"trial": document, "files": digests, where there are any}, to be remembered
  std::vector<const Trial*> trials;  ///< the first that has each
};

std::vector<AskedPlaces> asked_places(const Study& study, const Catalog& catalog) {
  std::map<std::string, AskedPlaces> by_plugins;
  std::set<std::string> seen;
  const auto training = any_training();
  Unseen is_new({TrialSection::kTask, TrialSection::kModel, TrialSection::kAttention});
  for (const auto& trial : study.trials) {
    stop_if_asked();
    if (!is_new(trial.sections)) continue;
    const auto& [task, model, attention, train, seed] = trial.spec;
    const TrialSpec tried{.task = task, .model = model, .attention = attention, .train = training};
    json place{{"trial", to_json(tried)}};
    if (!trial.files.empty()) place["files"] = trial.files;  // what a factory says of one content holds for no other
    if (!seen.insert(place.dump()).second) continue;
    std::string code;
    Libraries libraries;
    for (const auto& use : used_plugins(trial.spec, catalog))
      if (libraries.hashes.emplace(use.info->path.string(), use.info->content_hash).second) code += use.info->code_identity();
    for (const auto& [path, hash] : libraries.hashes) libraries.paths.push_back(path);
    auto& asked = by_plugins[code + to_json(task).dump()];
    asked.code = code, asked.job.libraries = libraries;
    asked.job.places.push_back({tried});
    asked.places.push_back(place);
    asked.trials.push_back(&trial);
  }
  std::vector<AskedPlaces> all;
  for (auto& [key, asked] : by_plugins) all.push_back(std::move(asked));
  return all;
}

std::vector<TriedPlaces::Refused> ask(const AskedPlaces& asked, Executors& executors, const TaskMemory& memory,
                                      double limit_s) {
  const auto path = memory.path_of(asked.code, {{"kind", TryPlacesJob::kName}, {"places", asked.places}});
  if (memory.find(path)) return {};
  const auto answered = executors.ask(asked.job, limit_s);
  if (!answered.answer) return {};
  if (answered.answer->refused.empty()) memory.put(path, to_json(*answered.answer));
  return answered.answer->refused;
}

/// The parameter of the section that the plugin speaks of, "heads = 3 does not divide ..."; "" for none.
std::string parameter_of(const Trial& trial, const Catalog& catalog, const std::string& path, const std::string& why) {
  for (const auto& use : used_plugins(trial.spec, catalog))
    if (use.path == path) return named_parameter(*use.info, why);
  return "";
}

/// What gives the trial's attentions a width that one of them speaks of, where the study says it; of parts another part may.
std::string width_of(const Trial& trial, const std::string& path, const std::string& why) {
  const auto name = split_path(path).second;
  const bool is_part = !name.empty() && setting::layer_of(path) != path;
  if (is_part || (why.find("d_model") == std::string::npos && why.find("width") == std::string::npos)) return "";
  return trial.spec.model.attention_width > 0 ? setting::kAttentionWidth : setting::kModelWidth;
}

}  // namespace

std::vector<Diagnostic> check_places(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                                     double limit_s) {
  Diagnostics diagnostics(study.overrides);
  for (const auto& asked : asked_places(study, catalog))
    for (const auto& refused : ask(asked, executors, memory, limit_s)) {
      const auto& trial = *asked.trials.at(static_cast<std::size_t>(refused.place));
      const auto& [place, path, why] = refused;
      if (is_below(path, section::kModel)) {
        diagnostics.add(where_of(study, trial, {path, setting::kTaskPlugin}), why);
        continue;
      }
      const auto parameter = parameter_of(trial, catalog, path, why);
      diagnostics.add(
          where_of(study, trial,
                   {path + "." + parameter, width_of(trial, path, why), path + ".plugin", setting::kAttentionPlugin}),
          parameter.empty() ? fmt::format("{}: {}", path, why) : fmt::format("{}.{}", path, why));
    }
  return diagnostics.sorted();
}

}  // namespace ablate
