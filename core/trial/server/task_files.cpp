#include "core/trial/server/task_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/shared/task_info.h"
#include "core/util/error.h"
#include "core/util/file_stamp.h"

namespace ablate {

std::map<std::string, std::string> files_of(Task& task) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> files;
  for (const auto& named : task.files()) {
    const auto file = fs::absolute(named).lexically_normal();
    std::error_code unseen;
    const auto status = fs::status(file, unseen);
    if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
      throw Error(fmt::format("its data {}: found a pipe, a socket or a device, expected a file or a folder", file.string()));
    files[file.string()] = file_stamp(file);
  }
  return files;
}

DescribedTask described(const TaskInfo& info) {
  if (const auto fault = fault_of(info); !fault.empty()) throw Error("its info() says " + fault, ExitCode::kPlugin);
  const auto shape = shape_of(info);
  return {.length = shape.length,
          .train_length = info.train_length > 0 ? info.train_length : info.length,
          .causal = shape.causal,
          .holes = shape.holes,
          .pooled = shape.pooled,
          .stream = shape.stream};
}

int all_cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace ablate
