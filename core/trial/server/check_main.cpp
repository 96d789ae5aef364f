// ablate-checker PARENT: a worker that checks plugins, too. Apart, so that who runs studies builds no conformance suite.
#include "core/trial/server/check_job.h"
#include "core/trial/server/worker.h"

int main(int count, char** arguments) {
  return ablate::serve_ablate(count, arguments, {ablate::handler<ablate::CheckJob, ablate::run_check_job>()});
}
