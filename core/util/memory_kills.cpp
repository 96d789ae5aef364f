#include "core/util/memory_kills.h"

#include <sys/klog.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "core/util/bytes_text.h"
#include "core/util/control_groups.h"

namespace ablate {
namespace {

/// Returns the sum of the numbers in all lines that begin with one of `beginnings`, in bytes; -1 if there is no such line. The
/// kernel counts in KiB.
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

namespace fs = std::filesystem;

/// Returns the number after a word at the start of a line; -1 if there is none.
std::int64_t number_after(const fs::path& file, const std::string& wanted) {
  std::ifstream lines(file);
  for (std::string word; lines >> word; lines.ignore(1 << 16, '\n'))
    if (std::int64_t number = -1; word == wanted && lines >> number) return number;
  return -1;
}

/// Returns how much memory a control group has left, including cached files that it may drop; -1: no limit.
std::int64_t left_in_group(const fs::path& folder) {
  struct Names {
    const char *most, *used, *forgettable;  ///< forgettable: entry of memory.stat that includes inner groups
  };
  for (const auto& [most_name, used_name, forgettable_name] :
       {Names{"memory.max", "memory.current", "inactive_file"},
        Names{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}}) {
    const auto most = first_number(folder / most_name), used = first_number(folder / used_name);
    if (most < 0 || used < 0) continue;
    const auto forgettable = std::max<std::int64_t>(0, number_after(folder / "memory.stat", forgettable_name));
    return std::max<std::int64_t>(0, most - used + forgettable);
  }
  return -1;
}

std::int64_t more(std::int64_t then, std::int64_t later) { return then >= 0 && later > then ? later - then : 0; }

std::string processes(std::int64_t count) { return std::to_string(count) + (count == 1 ? " process" : " processes"); }

}  // namespace

std::int64_t own_memory(pid_t process, const std::filesystem::path& proc) {
  return sum_of(proc / std::to_string(process) / "smaps_rollup", {"Private_", "Swap:"});
}

std::int64_t data_size(pid_t process, const std::filesystem::path& proc) {
  return sum_of(proc / std::to_string(process) / "status", {"VmData:"});
}

MemoryState look_at_memory(const fs::path& root) {
  MemoryState state;
  state.killed = number_after(root / "proc/vmstat", "oom_kill");
  if (const auto kib = number_after(root / "proc/meminfo", "MemTotal:"); kib >= 0) state.total_bytes = kib * 1024;
  if (const auto kib = number_after(root / "proc/meminfo", "MemAvailable:"); kib >= 0) state.available_bytes = kib * 1024;
  for (const auto& folder : control_groups("memory", root)) {
    for (const char* file : {"memory.events", "memory.oom_control"})
      if (state.killed_in_group < 0) state.killed_in_group = number_after(folder / file, "oom_kill");
    for (const char* file : {"memory.max", "memory.limit_in_bytes"})
      if (const auto most = first_number(folder / file); most > 0)
        state.total_bytes = state.total_bytes < 0 ? most : std::min(state.total_bytes, most);
    if (const auto left = left_in_group(folder); left >= 0)
      state.available_bytes = state.available_bytes < 0 ? left : std::min(state.available_bytes, left);
  }
  return state;
}

bool counts_kills(const MemoryState& before, const MemoryState& now) {
  return more(before.killed_in_group, now.killed_in_group) > 0 || more(before.killed, now.killed) > 0;
}

bool is_short(const MemoryState& now) {
  constexpr std::int64_t kShare = 50;
  return now.available_bytes >= 0 && now.total_bytes > 0 && now.available_bytes < now.total_bytes / kShare;
}

bool log_tells_kill(const std::string& log, pid_t process, double since_s) {
  const auto words = " Killed process " + std::to_string(process) + " ";
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto time = line.find('[');  // "<3>[ 1234.567890] Out of memory: Killed process 7 (name) ..."
    if (time == std::string::npos || line.find(words) == std::string::npos) continue;
    if (std::strtod(line.c_str() + time + 1, nullptr) >= since_s) return true;
  }
  return false;
}

std::string kernel_log() {
  constexpr int kReadAll = 3, kSize = 10;
  const int size = klogctl(kSize, nullptr, 0);
  if (size <= 0) return "";
  std::string log(static_cast<std::size_t>(size), '\0');
  const int read = klogctl(kReadAll, log.data(), size);
  log.resize(static_cast<std::size_t>(std::max(0, read)));
  return log;
}

double since_start_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string killed_text(const MemoryState& before, const MemoryState& now, std::int64_t peak_bytes) {
  const auto in_group = more(before.killed_in_group, now.killed_in_group), anywhere = more(before.killed, now.killed);
  std::string text;
  if (in_group > 0 || anywhere > 0)
    text = "the kernel's memory killer ended " +
           (in_group > 0 ? processes(in_group) + " of this control group" : processes(anywhere) + " of this machine") +
           " during the run";
  else
    text = "ablate did not send this signal; usually the kernel's memory killer does" +
           std::string(now.killed >= 0 || now.killed_in_group >= 0 ? ", but the kernel counted no kill during the run" : "");
  if (peak_bytes > 0) {
    text += "; its peak was " + bytes_text(static_cast<std::uintmax_t>(peak_bytes));
    if (now.total_bytes > 0) text += " of " + bytes_text(static_cast<std::uintmax_t>(now.total_bytes));
  }
  return text;
}

}  // namespace ablate
