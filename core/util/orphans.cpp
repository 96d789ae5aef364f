#include "core/util/orphans.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>

namespace ablate {
namespace {

constexpr std::chrono::seconds kPatience(5);

/// Stops all processes before it kills the first, so that no process forks meanwhile.
void end_all(const std::set<pid_t>& processes) {
  for (const int signal : {SIGSTOP, SIGKILL})
    for (const auto pid : processes) kill(pid, signal);
  for (const auto pid : processes)
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::set<pid_t>& spared_children() {
  static std::set<pid_t> all;
  return all;
}

}  // namespace

void spare_child(pid_t child) { spared_children().insert(child); }
void spare_no_longer(pid_t child) { spared_children().erase(child); }

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::set<pid_t> own_children() {
  std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
  return {std::istream_iterator<pid_t>(list), {}};
}

void end_orphans(const std::set<pid_t>& spared) {
  const auto start = std::chrono::steady_clock::now();
  do {
    auto orphans = own_children();
    for (const auto& some : {spared, spared_children()})
      for (const auto pid : some) orphans.erase(pid);
    if (orphans.empty()) return;
    end_all(orphans);
  } while (std::chrono::steady_clock::now() - start < kPatience);
}

}  // namespace ablate
