#include "core/trial/model/places.h"

#include <algorithm>

#include "core/records/setting_paths.h"
#include "core/trial/model/attention_place.h"
#include "core/trial/model/model.h"
#include "core/trial/model/refused_part.h"

namespace ablate {

std::vector<RefusedPlace> refused_places(const TaskInfo& task, const TrialSpec& trial, const FindPlugin& find) {
  std::vector<RefusedPlace> refused;
  ModelOptions options;
  try {
    options = model_options(task, trial.model);
  } catch (const RefusedModel& refused_model) {
    return {{refused_model.path, refused_model.what()}};
  }
  const auto attention = to_json(trial.attention);
  auto place = attention_place(options, options.hands_on() && carries_state(attention, find));
  const auto sections = sections_of(attention);
  const auto generator = make_generator(0);
  SharedTensors shared;
  for (; place.layer < std::min(options.layers, static_cast<std::int64_t>(sections.size())); ++place.layer) try {
      make_attention(sections[static_cast<std::size_t>(place.layer)], place, find, generator, shared);
    } catch (const RefusedPart& part) {
      const auto path = trial.attention.is_list ? setting::layer(static_cast<std::size_t>(place.layer)) : section::kAttention;
      refused.push_back({part.path.empty() ? path : path + "." + part.path, part.what()});
    } catch (const std::exception&) {
    }
  return refused;
}

}  // namespace ablate
