#include "core/registry/plugin_info.h"
#include "core/trial/server/handlers/handlers.h"
#include "core/util/error.h"

namespace ablate {
namespace {

Inspected do_inspect(LoadedParts& loaded, const InspectJob& job) {
  const auto& descriptor = load_library(job.path);
  loaded.restore();
  // Throws instead of refusing the file for good: a process with more rights might restore the lost setting.
  if (const auto lost = loaded.lost(); !lost.empty()) throw Error("changes the process that loads it for good: " + lost);
  try {
    return {.info = to_json(describe(descriptor))};
  } catch (const Error& error) {
    return {.refusal = error.what()};
  }
}

}  // namespace

const NamedHandler handlers::inspect = handler<InspectJob, do_inspect>();

}  // namespace ablate
