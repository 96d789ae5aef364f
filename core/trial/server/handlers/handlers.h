// The jobs of a study. A new one is a line here, the file that it names, core/trial/server/handlers/FILE.cpp, and what host and
// worker say: a header of its own in core/shared, as core/shared/jobs.h has those of the first ones.
#pragma once

#include "core/trial/server/jobs.h"

/// File and handler.
// clang-format off
#define ABLATE_JOBS(job) \
  job(inspect)           \
  job(describe_task)     \
  job(prepare_task)      \
  job(promises)          \
  job(try_places)        \
  job(count_sizes)       \
  job(open_device)       \
  job(trial)
// clang-format on

/// Each job's, in its own file.
namespace ablate::handlers {
#define ABLATE_JOB(file) extern const NamedHandler file;
ABLATE_JOBS(ABLATE_JOB)
#undef ABLATE_JOB
}  // namespace ablate::handlers
