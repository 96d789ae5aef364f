#include "core/trial/floors/floors.h"
#include "core/trial/server/checker_jobs.h"

namespace ablate {
namespace {

FoundFloors run_floors_job(LoadedParts& loaded, const FloorsJob& job) {
  const auto task = audited_data(loaded, job.libraries, job.section, job.digest);
  return find_floors(*task, task->info(), job.rows, job.seconds);
}

}  // namespace

const NamedHandler floors_job = handler<FloorsJob, run_floors_job>();

}  // namespace ablate
