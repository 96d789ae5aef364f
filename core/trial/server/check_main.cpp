// ablate-checker PARENT: a worker that also checks plugins and audits data. It is a separate program, so that running studies
// needs no conformance suite.
#include "core/trial/server/checker_jobs.h"
#include "core/trial/server/worker.h"

int main(int count, char** arguments) {
  return ablate::serve_ablate(count, arguments, {ablate::check_job, ablate::audit_job, ablate::floors_job});
}
