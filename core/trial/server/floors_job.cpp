#include "core/shared/floors_job.h"

#include "core/trial/floors/floors.h"
#include "core/trial/server/checker_jobs.h"

namespace ablate {
namespace {

FoundFloors run_floors_job(LoadedParts& loaded, const FloorsJob& job) {
  const auto task = audited_data(loaded, job.libraries, job.section, job.digest);
  const auto found = find_floors(*task, task->info(), job.rows, job.seconds);
  FoundFloors answer{.metric = found.metric.name,
                     .unit = found.metric.unit,
                     .examples = found.examples,
                     .train_size = found.train_size,
                     .seen = found.seen,
                     .is_stream = task->info().sampling == Sampling::kStream,
                     .floors = {},
                     .left_out = found.left_out};
  for (const auto& [name, how, value, trained, others] : found.all)
    answer.floors.push_back({name, how, value, trained, others});
  return answer;
}

}  // namespace

const NamedHandler floors_job = handler<FloorsJob, run_floors_job>();

}  // namespace ablate
