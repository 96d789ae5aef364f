// Ctrl-C, SIGTERM, SIGHUP and SIGQUIT as a flag that a loop looks at.
#pragma once

#include <string.h>

#include <csignal>
#include <string>

namespace ablate {

inline volatile std::sig_atomic_t asked_to_stop = 0;        ///< the latest signal; 0: none
inline volatile std::sig_atomic_t asked_to_stop_often = 0;  ///< how many came

/// "the user", "SIGTERM", ...
inline std::string who_asked_to_stop() {
  return asked_to_stop == SIGINT ? "the user" : std::string("SIG") + sigabbrev_np(asked_to_stop);
}

/// While it lives, these signals set the flag instead of ending the process. One that is ignored stays so: nohup means it.
class StopOnSignal {
 public:
  StopOnSignal() {
    asked_to_stop = 0;
    asked_to_stop_often = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      struct sigaction action {};
      action.sa_handler = [](int signal) {
        asked_to_stop = signal;
        asked_to_stop_often = asked_to_stop_often + 1;
      };
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
    }
  }
  ~StopOnSignal() {
    for (std::size_t i = 0; i < kCount; ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  static constexpr std::size_t kCount = 4;
  static constexpr int kSignals[kCount] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  struct sigaction before_[kCount] {};
};

}  // namespace ablate
