#include <fmt/format.h>

#include <algorithm>

#include "core/shared/task_info.h"
#include "core/trial/server/handlers/handlers.h"
#include "core/trial/server/task_files.h"
#include "core/trial/training/batches.h"
#include "core/util/error.h"

namespace ablate {
namespace {

/// True if any example of any split has an absent position. Reads until it finds one.
bool has_padding(const Task& task, const TaskInfo& info) {
  constexpr std::int64_t kBatch = 64;
  const BatchReader reader(task, info, c10::kCPU);
  const auto apart = info.sampling == Sampling::kStream ? info.length : 1;
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) {
    const auto size = task.size(split);
    for (std::int64_t first = 0; first < size; first += kBatch * apart) {
      std::vector<std::int64_t> indices;
      for (auto index = first; index < std::min(size, first + kBatch * apart); index += apart) indices.push_back(index);
      if (reader.read(split, indices).mask.defined()) return true;
    }
  }
  return false;
}

std::int64_t size_of(const Task& task, Split split, const char* name) {
  const auto size = task.size(split);
  if (size < 0 || size > kMostOfATask)
    throw Error(fmt::format("its {} split has {} examples, expected 0 to {}", name, size, kMostOfATask), ExitCode::kPlugin);
  return size;
}

PreparedTask do_prepare_task(LoadedParts& loaded, const PrepareTaskJob& job) {
  loaded.load(job.libraries);
  const auto made = loaded.make_task(job.section, all_cores());
  const auto info = made->info();
  PreparedTask answer;
  static_cast<DescribedTask&>(answer) = described(info);
  auto files = files_of(*made);
  made->load();
  answer.digest = made->digest();
  if (answer.digest.empty()) throw Error("its digest() is empty, expected a hash of its data", ExitCode::kPlugin);
  // Number of segments for a stream, because batches count segments.
  const auto counted = [&](std::int64_t size) {
    return info.sampling == Sampling::kStream ? (size + info.length - 1) / info.length : size;
  };
  answer.train_positions = size_of(*made, Split::kTrain, "train");
  answer.sizes.train = counted(answer.train_positions);
  answer.sizes.dev = counted(size_of(*made, Split::kDev, "dev"));
  answer.sizes.test = counted(size_of(*made, Split::kTest, "test"));
  if (job.scan_padding) answer.padded = has_padding(*made, info);
  // If the files were replaced meanwhile, it is unknown which version was read.
  if (files_of(*made) == files) answer.files = std::move(files);
  return answer;
}

}  // namespace

const NamedHandler handlers::prepare_task = handler<PrepareTaskJob, do_prepare_task>();

}  // namespace ablate
