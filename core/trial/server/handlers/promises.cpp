#include "core/trial/model/instances.h"
#include "core/trial/server/handlers/handlers.h"

namespace ablate {
namespace {

Promised do_promises(LoadedParts& loaded, const PromisesJob& job) {
  loaded.load(job.libraries);
  const auto find = [&](Kind part, const std::string& id) -> const Descriptor& { return loaded.plugin(part, id); };
  return {promises_of(job.kind, job.section, find)};
}

}  // namespace

const NamedHandler handlers::promises = handler<PromisesJob, do_promises>();

}  // namespace ablate
