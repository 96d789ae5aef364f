#include "core/trial/server/handlers/handlers.h"
#include "core/trial/server/task_files.h"

namespace ablate {
namespace {

DescribedTask do_describe_task(LoadedParts& loaded, const DescribeTaskJob& job) {
  loaded.load(job.libraries);
  const auto made = loaded.make_task(job.section, all_cores());
  auto answer = described(made->info());
  auto files = files_of(*made);
  // If the files were replaced meanwhile, it is unknown which version was read.
  if (files_of(*made) == files) answer.files = std::move(files);
  return answer;
}

}  // namespace

const NamedHandler handlers::describe_task = handler<DescribeTaskJob, do_describe_task>();

}  // namespace ablate
