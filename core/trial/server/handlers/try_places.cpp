#include "core/trial/model/places.h"
#include "core/trial/server/handlers/handlers.h"
#include "core/trial/server/task_files.h"

namespace ablate {
namespace {

TriedPlaces do_job(LoadedParts& loaded, const TryPlacesJob& job) {
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

const NamedHandler handlers::try_places = handler<TryPlacesJob, do_job>();

}  // namespace ablate
