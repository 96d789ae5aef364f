// Ctrl-C, SIGTERM and whatever else would end the process from outside, as a flag that a loop looks at.
#pragma once

#include <string.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace ablate {

inline volatile std::sig_atomic_t asked_to_stop = 0;        ///< the latest signal; 0: none
inline volatile std::sig_atomic_t asked_to_stop_often = 0;  ///< how many came

/// "the user", "SIGTERM", ...
inline std::string who_asked_to_stop() {
  if (asked_to_stop == SIGINT) return "the user";
  const char* name = sigabbrev_np(asked_to_stop);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(asked_to_stop);
}

/// Signals that end a process by default and tell of no fault in it: batch systems announce with any of them that time is over.
inline std::vector<int> stop_signals() {
  std::vector all{SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2,
                  SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) all.push_back(signal);
  return all;
}

/// While it lives, these signals set the flag instead of ending the process. One that is ignored stays so: nohup means it.
class StopOnSignal {
 public:
  StopOnSignal() {
    asked_to_stop = 0;
    asked_to_stop_often = 0;
    for (const int signal : stop_signals()) {
      struct sigaction action {}, before {};
      action.sa_handler = [](int which) {
        asked_to_stop = which;
        asked_to_stop_often = asked_to_stop_often + 1;
      };
      sigaction(signal, nullptr, &before);
      if (before.sa_handler == SIG_IGN) continue;
      sigaction(signal, &action, nullptr);
      before_.emplace_back(signal, before);
    }
  }
  ~StopOnSignal() {
    for (const auto& [signal, before] : before_) sigaction(signal, &before, nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace ablate
