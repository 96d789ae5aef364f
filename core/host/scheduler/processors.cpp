#include "core/host/scheduler/processors.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/util/byte_locks.h"
#include "core/util/control_groups.h"

namespace ablate {
namespace {

std::vector<int> allowed() {
  std::vector<int> all;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return all;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) all.push_back(i);
  return all;
}

/// Returns the number of processors of a Slurm job, or 1e9 outside of Slurm. On some clusters, no control group or affinity
/// limits the job to its processors.
double batch_processors() {
  const char* given = std::getenv("SLURM_CPUS_ON_NODE");
  const double number = given == nullptr || std::getenv("SLURM_JOB_ID") == nullptr ? 0 : std::strtod(given, nullptr);
  return number >= 1 ? number : 1e9;
}

}  // namespace

int processor_count() {
  const auto all = static_cast<double>(allowed().size());
  const double quota = processor_quota();
  const double most = std::min(all, batch_processors());
  return std::max(1, static_cast<int>(quota > 0 ? std::min(most, std::ceil(quota)) : most));
}

std::filesystem::path Processors::shared_file() { return "/dev/shm/ablate-processors-" + std::to_string(getuid()); }

Processors::Processors(const std::filesystem::path& file)
    : file_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)), all_(allowed()) {}

Processors::~Processors() {
  if (file_ >= 0) close(file_);
}

bool Processors::lock(int processor) { return file_ < 0 || lock_byte(file_, processor); }

void Processors::unlock(int processor) {
  if (file_ >= 0) unlock_byte(file_, processor);
}

std::vector<int> Processors::take(int job, int count) {
  std::vector<int> got;
  for (const int processor : all_) {
    if (static_cast<int>(got.size()) == count) break;
    const bool is_ours = std::any_of(taken_.begin(), taken_.end(), [&](const auto& one) {
      return std::find(one.second.begin(), one.second.end(), processor) != one.second.end();
    });
    if (!is_ours && lock(processor)) got.push_back(processor);
  }
  if (static_cast<int>(got.size()) == count) return taken_[job] = got;
  for (const int processor : got) unlock(processor);
  return {};
}

void Processors::give_back(int job) {
  for (const int processor : taken_[job]) unlock(processor);
  taken_.erase(job);
}

}  // namespace ablate
