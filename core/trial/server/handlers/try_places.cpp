#include <algorithm>
#include <string>
#include <vector>

#include "ablate/task.h"
#include "core/records/setting_paths.h"
#include "core/shared/trial_spec.h"
#include "core/trial/model/attention_place.h"
#include "core/trial/model/instances.h"
#include "core/trial/model/model.h"
#include "core/trial/model/refused_part.h"
#include "core/trial/server/handlers/handlers.h"
#include "core/trial/server/task_files.h"

namespace ablate {
namespace {

struct RefusedPlace {
  std::string path;  ///< section that refuses: "attention", "attention.1.parts.0"; or setting of the model: "model.cut"
  std::string why;
};

/// Returns the refusals of a trial's model and its attentions for the task. Factories refuse shares or heads that do not divide
/// a width (std::invalid_argument), and model_options refuses settings. In a list, each attention is tried once, in its first
/// layer. Other faults are left to the trial.
std::vector<RefusedPlace> refused_places(const TaskInfo& task, const TrialSpec& trial, const FindPlugin& find) {
  std::vector<RefusedPlace> refused;
  ModelOptions options;
  try {
    options = model_options(task, trial.model);
  } catch (const RefusedModel& refused_model) {
    return {{refused_model.path, refused_model.what()}};
  }
  auto place = attention_place(options, options.hands_on() && carries_state(trial.attention, find));
  const auto& attentions = trial.attention.all;
  const auto generator = make_generator(0);
  SharedTensors shared;
  for (; place.layer < std::min(options.layers, std::ssize(attentions)); ++place.layer) try {
      make_attention(attentions[static_cast<std::size_t>(place.layer)], place, find, generator, shared);
    } catch (const RefusedPart& part) {
      const auto path = trial.attention.is_list ? setting::layer(static_cast<std::size_t>(place.layer)) : section::kAttention;
      refused.push_back({part.path.empty() ? path : path + "." + part.path, part.what()});
    } catch (const std::exception&) {
    }
  return refused;
}

TriedPlaces do_try_places(LoadedParts& loaded, const TryPlacesJob& job) {
  loaded.load(job.libraries);
  const auto find = [&](Kind part, const std::string& id) -> const Descriptor& { return loaded.plugin(part, id); };
  const auto made = loaded.make_task(job.places.at(0).trial.task, 1);
  const auto info = made->info();
  TriedPlaces answer;
  answer.files = files_of(*made);
  for (std::size_t place = 0; place < job.places.size(); ++place)
    for (const auto& [path, why] : refused_places(info, job.places[place].trial, find))
      answer.refused.push_back({static_cast<std::int64_t>(place), path, why});
  return answer;
}

}  // namespace

const NamedHandler handlers::try_places = handler<TryPlacesJob, do_try_places>();

}  // namespace ablate
