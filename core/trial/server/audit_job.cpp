#include "core/trial/server/audit_job.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "core/trial/audit/audit.h"
#include "core/trial/server/planned_library.h"
#include "core/trial/server/said_checks.h"
#include "core/trial/server/task_files.h"
#include "core/util/error.h"

namespace ablate {

void run_audit_job(LoadedParts& loaded, const AuditJob& job, const Say& say) {
  at::set_num_threads(1);
  try {
    loaded.load(job.libraries);
  } catch (const LibraryReplaced& replaced) {
    throw Error(replaced.what());  // of other code the data are not to blame
  }
  auto made = loaded.make_task(job.section, all_cores());
  made->info();
  made->load();
  if (made->digest() != job.digest)
    throw Error(fmt::format("the data of {} have changed since its digest was asked: run the command again", job.section.id));
  const auto& plugin = loaded.plugin(Kind::kTask, job.section.id);
  const auto candidate = make_candidate(plugin, to_json(job.section), find_among({&plugin}));
  auto checks = checks_that(say);
  audit_task(candidate, std::move(made), job.scratch, checks);
}

}  // namespace ablate
