// Slurm on one machine, for tests.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/end-to-end/ablate.h"

/// A Slurm that starts with this object and ends with it. Needs root, control groups and Debian's slurm-wlm.
class Cluster {
 public:
  explicit Cluster(const std::vector<std::string>& lines) {
    if (!lacks().empty() || !has_package()) return;
    auto words = lines;
    words.insert(words.begin(), {kOneMachine, "start", folder()});
    const auto started = Process(words).wait();
    is_there_ = started.exit_code == 0;
    why_ = started.err;
    setenv("SLURM_CONF", (folder() + "/slurm.conf").c_str(), 1);
  }
  ~Cluster() {
    if (!why_.empty() || is_there_) Process({kOneMachine, "stop", folder()}).wait();
    unsetenv("SLURM_CONF");
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  bool is_there() const { return is_there_; }
  /// Returns a requirement that this machine lacks and no package provides, or "" if nothing is lacking.
  static std::string lacks() {
    if (geteuid() != 0) return "Slurm needs root";
    // Control groups may be missing, as in a chroot. slurmd needs them, although no plugin of this Slurm uses them.
    if (!says(read_text("/proc/mounts"), " cgroup")) return "slurmd needs control groups, as at /sys/fs/cgroup";
    return "";
  }
  static bool has_package() { return access("/usr/sbin/slurmctld", X_OK) == 0 && access("/usr/sbin/slurmd", X_OK) == 0; }
  /// Returns why Slurm did not start, or "" if it started.
  const std::string& why() const { return why_; }
  Ended tell(const std::string& command) const { return Process({kOneMachine, command, folder()}).wait(); }
  static Ended ask(const std::string& command) { return Process({"bash", "-c", command}).wait(); }

 private:
  std::string folder() const { return folder_.path().string(); }

  inline static const std::string kOneMachine = ABLATE_SOURCE_DIR "/tests/slurm/one-machine";
  TemporaryFolder folder_;
  bool is_there_ = false;
  std::string why_;
};

inline bool until(const std::function<bool()>& holds, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return holds();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return true;
}
