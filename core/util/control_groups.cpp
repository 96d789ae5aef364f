#include "core/util/control_groups.h"

#include <algorithm>
#include <fstream>

namespace ablate {

namespace fs = std::filesystem;

std::vector<fs::path> control_groups(const std::string& controller, const fs::path& root) {
  const auto mounted = root / "sys/fs/cgroup";
  std::vector<fs::path> folders;
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const auto controllers = line.find(':'), path = line.find(':', controllers + 1);
    if (controllers == std::string::npos || path == std::string::npos) continue;
    const auto which = "," + line.substr(controllers + 1, path - controllers - 1) + ",";  // ",,": version 2
    if (which != ",," && which.find("," + controller + ",") == std::string::npos) continue;
    const auto base = which == ",," ? mounted : mounted / controller;
    for (auto group = fs::path(line.substr(path + 1)).relative_path(); !group.empty(); group = group.parent_path())
      folders.push_back(base / group);
    folders.push_back(base);
  }
  return folders;
}

std::int64_t first_number(const fs::path& file) {
  std::ifstream stream(file);
  std::int64_t number = -1;
  return stream >> number ? number : -1;
}

double processor_quota(const fs::path& root) {
  double least = 0;
  for (const auto& folder : control_groups("cpu", root)) {
    double quota = -1, period = -1;  // microseconds
    if (std::ifstream both(folder / "cpu.max"); !(both >> quota >> period)) {
      quota = static_cast<double>(first_number(folder / "cpu.cfs_quota_us"));
      period = static_cast<double>(first_number(folder / "cpu.cfs_period_us"));
    }
    if (quota > 0 && period > 0) least = least > 0 ? std::min(least, quota / period) : quota / period;
  }
  return least;
}

}  // namespace ablate
