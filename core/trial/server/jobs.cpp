#include "core/trial/server/jobs.h"

#include <c10/util/Exception.h>

#include <iostream>

#include "core/trial/server/crash_trace.h"
#include "core/trial/server/handlers/handlers.h"
#include "core/util/error.h"

namespace ablate {

Handlers study_handlers(const std::vector<NamedHandler>& more) {
  Handlers all;
#define ABLATE_JOB(file) all.emplace(handlers::file.kind, handlers::file.handle);
  ABLATE_JOBS(ABLATE_JOB)
#undef ABLATE_JOB
  for (const auto& [kind, handle] : more) all.emplace(kind, handle);
  return all;
}

void TorchJobs::run(const std::string& kind, const nlohmann::json& spec, const Say& say) try {
  loaded_.restore();  // a library's handler of the fork has run
  trace_crashes(say);
  const auto found = handlers_.find(kind);
  if (found == handlers_.end()) throw Error("no such job: " + kind);
  found->second(loaded_, spec, say);
} catch (const c10::Error& error) {
  std::cerr << error.what() << "\n";  // the backtrace, for the tail of the output
  throw std::runtime_error(error.what_without_backtrace());
}

}  // namespace ablate
