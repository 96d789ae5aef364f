#include "core/trial/training/trial.h"

#include <iostream>

#include "core/trial/server/handlers/handlers.h"
#include "core/trial/server/planned_files.h"

namespace ablate {
namespace {

/// Whoever has no place for the weights still has the numbers. The host sees whether the file is there; why not, it reads in
/// the output.
void keep_weights(const TrialRun& run, const std::string& file) try {
  run.write_weights(file);
} catch (const std::exception& error) {
  std::cerr << "the best weights are not kept: " << error.what() << "\n";
}

void do_job(LoadedParts& loaded, const TrialJob& job, const Say& say) {
  const PlannedFiles files(job.files);
  const TrialParts parts{
      .trial = job.trial,
      .task = loaded.task(job.trial.task),
      .find = [&](Kind kind, const std::string& id) -> const Descriptor& { return loaded.plugin(kind, id); }};
  TrialRun run(parts, [&](const Progress& now) {
    if (now.step == 0) files.check();  // the factories have read them
    say(to_json(now));
  });
  const auto result = run.result();
  if (!job.weights_file.empty()) keep_weights(run, job.weights_file);
  say(to_json(result));
}

}  // namespace

const NamedHandler handlers::trial = handler<TrialJob, do_job>();

}  // namespace ablate
