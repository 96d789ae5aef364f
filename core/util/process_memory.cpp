#include "core/util/process_memory.h"

#include <fstream>
#include <limits>
#include <string>

namespace ablate {
namespace {

/// The sum of the lines whose first word begins with one of these; -1 where there is none. The kernel counts in KiB.
std::int64_t sum_of(const std::filesystem::path& file, std::initializer_list<const char*> beginnings) {
  std::ifstream lines(file);
  std::int64_t sum = -1;
  for (std::string word; lines >> word; lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    for (const auto* beginning : beginnings)
      if (std::int64_t kib = 0; word.starts_with(beginning) && lines >> kib) {
        sum = (sum < 0 ? 0 : sum) + kib * 1024;
        break;
      }
  return sum;
}

}  // namespace

std::int64_t own_memory(pid_t process, const std::filesystem::path& proc) {
  return sum_of(proc / std::to_string(process) / "smaps_rollup", {"Private_", "Swap:"});
}

std::int64_t data_size(pid_t process, const std::filesystem::path& proc) {
  return sum_of(proc / std::to_string(process) / "status", {"VmData:"});
}

}  // namespace ablate
