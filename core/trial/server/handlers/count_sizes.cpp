#include "core/shared/sizes_job.h"
#include "core/trial/server/handlers/handlers.h"
#include "core/trial/server/task_files.h"
#include "core/trial/training/trial_model.h"

namespace ablate {
namespace {

CountedSizes do_count_sizes(LoadedParts& loaded, const CountSizesJob& job) {
  loaded.load(job.libraries);
  const auto find = [&](Kind part, const std::string& id) -> const Descriptor& { return loaded.plugin(part, id); };
  const auto made = loaded.make_task(job.models.at(0).task, 1);
  const auto info = made->info();  // without load(): sizes do not depend on the data
  CountedSizes answer{.files = files_of(*made), .sizes = {}};
  for (const auto& trial : job.models) try {
      const auto [parameters, state_bytes] = sizes_of(info, trial, find);
      answer.sizes.push_back({parameters, state_bytes, ""});
    } catch (const std::exception& error) {
      answer.sizes.push_back({0, 0, *error.what() == '\0' ? "it cannot be made" : error.what()});
    }
  return answer;
}

}  // namespace

const NamedHandler handlers::count_sizes = handler<CountSizesJob, do_count_sizes>();

}  // namespace ablate
