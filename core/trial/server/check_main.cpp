// ablate-checker PARENT: a worker that checks plugins and audits data, too. Apart, so that who runs studies builds no
// conformance suite.
#include "core/trial/server/checker_jobs.h"
#include "core/trial/server/worker.h"

int main(int count, char** arguments) {
  return ablate::serve_ablate(count, arguments, {ablate::check_job, ablate::audit_job, ablate::floors_job});
}
