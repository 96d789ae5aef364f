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
  loaded_.restore();  // a library's fork handler may have run
  trace_crashes(say);
  const auto found = handlers_.find(kind);
  if (found == handlers_.end()) throw Error("no such job: " + kind);
  found->second(loaded_, spec, say);
} catch (const c10::OutOfMemoryError& error) {
  throw OutOfMemory(OutOfMemory::kDevice, error.what_without_backtrace());
} catch (const c10::Error& error) {
  std::cerr << error.what() << "\n";  // the backtrace, for the tail of the output
  const std::string why = error.what_without_backtrace();
  const auto says = [&](const char* words) { return why.find(words) != std::string::npos; };
  if (says("CUDA error: out of memory")) throw OutOfMemory(OutOfMemory::kDevice, why);  // an error without a type of its own
  if (says("DefaultCPUAllocator: ") && says("llocate memory")) throw OutOfMemory(OutOfMemory::kHost, why);
  throw std::runtime_error(why);
}

}  // namespace ablate
