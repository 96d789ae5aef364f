#include "core/util/memory_kills.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "core/util/bytes_text.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// The number after a word at a line's start; -1 where there is none.
std::int64_t number_after(const fs::path& file, const std::string& wanted) {
  std::ifstream lines(file);
  for (std::string word; lines >> word; lines.ignore(1 << 16, '\n'))
    if (std::int64_t number = -1; word == wanted && lines >> number) return number;
  return -1;
}

std::int64_t first_number(const fs::path& file) {
  std::ifstream stream(file);
  std::int64_t number = -1;
  return stream >> number ? number : -1;  // "max" is none
}

/// The folders of this process's memory control group, of either version; in a container it may be the root of what is mounted.
std::vector<fs::path> group_folders(const fs::path& root) {
  const auto mounted = root / "sys/fs/cgroup";
  std::vector<fs::path> folders;
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const auto controllers = line.find(':'), path = line.find(':', controllers + 1);
    if (controllers == std::string::npos || path == std::string::npos) continue;
    const auto which = line.substr(controllers + 1, path - controllers - 1);
    if (!which.empty() && which != "memory") continue;
    const auto base = which.empty() ? mounted : mounted / "memory";
    folders.push_back(base / fs::path(line.substr(path + 1)).relative_path());
    folders.push_back(base);
  }
  return folders;
}

std::string processes(std::int64_t count) { return std::to_string(count) + (count == 1 ? " process" : " processes"); }

}  // namespace

MemoryState look_at_memory(const fs::path& root) {
  MemoryState state;
  state.killed = number_after(root / "proc/vmstat", "oom_kill");
  if (const auto kib = number_after(root / "proc/meminfo", "MemTotal:"); kib >= 0) state.total_bytes = kib * 1024;
  for (const auto& folder : group_folders(root)) {
    for (const char* file : {"memory.events", "memory.oom_control"})
      if (state.killed_in_group < 0) state.killed_in_group = number_after(folder / file, "oom_kill");
    for (const char* file : {"memory.max", "memory.limit_in_bytes"})
      if (const auto most = first_number(folder / file); most > 0)
        state.total_bytes = state.total_bytes < 0 ? most : std::min(state.total_bytes, most);
  }
  return state;
}

std::string killed_text(const MemoryState& before, const MemoryState& now, std::int64_t peak_bytes) {
  const auto more = [](std::int64_t then, std::int64_t later) { return then >= 0 && later > then ? later - then : 0; };
  const auto in_group = more(before.killed_in_group, now.killed_in_group), anywhere = more(before.killed, now.killed);
  std::string text;
  if (in_group > 0 || anywhere > 0)
    text = "the kernel's memory killer has ended " +
           (in_group > 0 ? processes(in_group) + " of this control group" : processes(anywhere) + " of this machine") +
           " meanwhile";
  else
    text = "nobody here has sent it; mostly it is the kernel's memory killer" +
           std::string(now.killed >= 0 || now.killed_in_group >= 0 ? ", though the kernel counts none meanwhile" : "");
  if (peak_bytes > 0) {
    text += "; its peak was " + bytes_text(static_cast<std::uintmax_t>(peak_bytes));
    if (now.total_bytes > 0) text += " of " + bytes_text(static_cast<std::uintmax_t>(now.total_bytes));
  }
  return text;
}

}  // namespace ablate
