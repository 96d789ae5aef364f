#include "core/trial/training/trial.h"

#include "core/trial/server/handlers/handlers.h"
#include "core/trial/server/planned_files.h"

namespace ablate {
namespace {

void do_job(LoadedParts& loaded, const TrialJob& job, const Say& say) {
  const PlannedFiles files(job.files);
  const TrialParts parts{
      .trial = job.trial,
      .task = loaded.task(job.trial.task),
      .find = [&](Kind kind, const std::string& id) -> const Descriptor& { return loaded.plugin(kind, id); }};
  const auto result = run_trial(parts, [&](const Progress& now) {
    if (now.step == 0) files.check();  // the factories have read them
    say(to_json(now));
  });
  say(to_json(result));
}

}  // namespace

const NamedHandler handlers::trial = handler<TrialJob, do_job>();

}  // namespace ablate
