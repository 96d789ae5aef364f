#include "core/trial/audit/audit.h"
#include "core/trial/server/checker_jobs.h"

namespace ablate {
namespace {

void run_audit_job(LoadedParts& loaded, const AuditJob& job, const Say& say) {
  auto task = audited_data(loaded, job.libraries, job.section, job.digest);
  const auto& plugin = loaded.plugin(Kind::kTask, job.section.id);
  const auto candidate = make_candidate(plugin, to_json(job.section), find_among({&plugin}));
  auto checks = checks_that(say);
  audit_task(candidate, std::move(task), job.scratch, checks);
}

}  // namespace

const NamedHandler audit_job = handler<AuditJob, run_audit_job>();

}  // namespace ablate
