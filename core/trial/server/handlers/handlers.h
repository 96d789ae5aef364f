// Jobs of a study. A new job needs a line here, the file core/trial/server/handlers/FILE.cpp, and a header in core/shared with
// the messages of host and worker. core/shared/jobs.h has the messages of jobs without a header of their own.
#pragma once

#include "core/trial/server/jobs.h"

/// Name of each job's file and handler.
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

/// Each job's handler, in its own file.
namespace ablate::handlers {
#define ABLATE_JOB(file) extern const NamedHandler file;
ABLATE_JOBS(ABLATE_JOB)
#undef ABLATE_JOB
}  // namespace ablate::handlers
