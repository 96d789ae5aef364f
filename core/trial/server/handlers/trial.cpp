#include "core/trial/training/trial.h"

#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "core/trial/server/handlers/handlers.h"
#include "core/trial/server/own_checkpoints.h"
#include "core/trial/server/planned_files.h"

namespace ablate {
namespace {

/// Writes the weights. A failure costs no results: the host finds no file, and the output has the reason.
void keep_weights(const TrialRun& run, const std::string& file) try {
  run.write_weights(file);
} catch (const std::exception& error) {
  std::cerr << "the best weights are not kept: " << error.what() << "\n";
}

void do_trial(LoadedParts& loaded, const TrialJob& job, const Say& say) {
  const PlannedFiles files(job.files);
  const TrialParts parts{
      .trial = job.trial,
      .task = loaded.task(job.trial.task),
      .find = [&](Kind kind, const std::string& id) -> const Descriptor& { return loaded.plugin(kind, id); }};
  bool begun = false;
  const auto make = [&] {
    return std::make_unique<TrialRun>(parts, [&](const Progress& now) {
      if (!std::exchange(begun, true)) files.check();  // the factories have read the files
      say(to_json(now));
    });
  };
  std::optional<OwnCheckpoints> checkpoints;
  if (job.checkpoint) checkpoints.emplace(*job.checkpoint, say);
  const auto run = checkpoints ? checkpoints->begin(make) : make();
  const auto result = run->result([&] {
    if (checkpoints) checkpoints->after_step(*run);
  });
  if (!job.weights_file.empty()) keep_weights(*run, job.weights_file);
  say(to_json(result));
}

}  // namespace

const NamedHandler handlers::trial = handler<TrialJob, do_trial>();

}  // namespace ablate
