#include "core/trial/server/process_state.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdlib>

#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

std::vector<std::string> all_variables() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

/// Name and ulimit option of each limit, by the limit's number.
constexpr std::array<const char*, RLIM_NLIMITS> kLimits{"CPU time (ulimit -t)",
                                                        "file size (ulimit -f)",
                                                        "data (ulimit -d)",
                                                        "stack (ulimit -s)",
                                                        "core files (ulimit -c)",
                                                        "resident memory",
                                                        "processes (ulimit -u)",
                                                        "open files (ulimit -n)",
                                                        "locked memory (ulimit -l)",
                                                        "address space (ulimit -v)",
                                                        "file locks (ulimit -x)",
                                                        "pending signals (ulimit -i)",
                                                        "message queues (ulimit -q)",
                                                        "niceness (ulimit -e)",
                                                        "real-time priority (ulimit -r)",
                                                        "real-time CPU time (ulimit -R)"};

std::string amount(rlim_t limit) { return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit); }

/// Ignores signals of other processes: the scheduler handles them. Signals and alarms that this process sends to itself end it.
void on_stop_signal(int number, siginfo_t* info, void*) {
  const bool is_sent = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
  if (is_sent && info->si_pid != getpid()) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

ProcessState::ProcessState() : variables_(all_variables()), locale_(std::setlocale(LC_ALL, nullptr)), mask_(umask(0)) {
  umask(mask_);
  std::error_code gone;
  folder_ = std::filesystem::current_path(gone);
  priority_ = getpriority(PRIO_PROCESS, 0);
  keep_limits();
}

void ProcessState::keep_limits() {
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit) getrlimit(static_cast<__rlimit_resource_t>(limit), &limits_[limit]);
  if (sched_getaffinity(0, sizeof(processors_), &processors_) != 0) CPU_ZERO(&processors_);  // too many processors
}

void ProcessState::restore() const {
  std::fesetenv(FE_DFL_ENV);
  std::error_code gone;
  std::filesystem::current_path(folder_, gone);
  if (all_variables() != variables_) {
    clearenv();
    for (const auto& variable : variables_) {
      const auto equals = variable.find('=');
      if (equals != std::string::npos) setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
    }
  }
  if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
  umask(mask_);
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit) {
    const auto which = static_cast<__rlimit_resource_t>(limit);
    rlimit now{};
    getrlimit(which, &now);
    const auto& before = limits_[limit];
    if (now.rlim_cur == before.rlim_cur && now.rlim_max == before.rlim_max) continue;
    if (setrlimit(which, &before) == 0) continue;
    now.rlim_cur = std::min(before.rlim_cur, now.rlim_max);  // the nearest possible limit
    setrlimit(which, &now);
  }
  if (getpriority(PRIO_PROCESS, 0) != priority_) setpriority(PRIO_PROCESS, 0, priority_);
  if (CPU_COUNT(&processors_) > 0) sched_setaffinity(0, sizeof(processors_), &processors_);
}

std::string ProcessState::lost() const {
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit) {
    rlimit now{};
    getrlimit(static_cast<__rlimit_resource_t>(limit), &now);
    const auto& before = limits_[limit];
    const bool soft = now.rlim_cur != before.rlim_cur;
    if (soft || now.rlim_max != before.rlim_max)
      return std::string("the limit of ") + kLimits[limit] + " is " + amount(soft ? now.rlim_cur : now.rlim_max) +
             ", and was " + amount(soft ? before.rlim_cur : before.rlim_max);
  }
  if (const int now = getpriority(PRIO_PROCESS, 0); now != priority_)
    return "the niceness is " + std::to_string(now) + ", and was " + std::to_string(priority_);
  return "";
}

void ProcessState::restore_signals() {
  alarm(0);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, signal == SIGPIPE || signal == SIGXFSZ ? SIG_IGN : SIG_DFL);
  struct sigaction left_alone {};
  left_alone.sa_sigaction = on_stop_signal;
  left_alone.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : stop_signals()) sigaction(signal, &left_alone, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace ablate
