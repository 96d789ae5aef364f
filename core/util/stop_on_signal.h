// Sets a flag on Ctrl-C, SIGTERM and other signals that would end the process. Long operations check the flag.
#pragma once

#include <string.h>
#include <time.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "core/util/error.h"

namespace ablate {

inline volatile std::sig_atomic_t asked_to_stop = 0;        ///< the latest signal; 0: none
inline volatile std::sig_atomic_t first_asked_to_stop = 0;  ///< the first signal; 0: none
inline volatile std::sig_atomic_t asked_to_stop_often = 0;  ///< number of signals

/// "the user", "SIGTERM", ...
inline std::string who_asked_to_stop() {
  if (asked_to_stop == SIGINT) return "the user";
  const char* name = sigabbrev_np(asked_to_stop);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(asked_to_stop);
}

/// A signal interrupted an unfinished operation. Code that catches an Error to store its text must rethrow Interrupted.
struct Interrupted : Error {
  Interrupted() : Error("interrupted by " + who_asked_to_stop(), ExitCode::kInterrupted) {}
};

/// For operations that take long and can stop without damage. Throws Interrupted if asked_to_stop.
inline void stop_if_asked() {
  if (asked_to_stop != 0) throw Interrupted();
}

/// Signals that end a process by default and show no fault in it. Batch systems use any of them to announce the time limit.
inline std::vector<int> stop_signals() {
  std::vector all{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) all.push_back(signal);
  return all;
}

/// True if a signal only repeats the latest counted signal. `timeout` signals a process and then its group. If a terminal
/// closes, the shell and the kernel both signal. At a session's end, SIGHUP follows SIGTERM. Safe in a signal handler.
inline bool says_it_again(int signal) {
  constexpr unsigned kSame_ms = 20, kHangup_ms = 2000;
  static volatile std::sig_atomic_t latest = 0, latest_ms = 0;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const auto now_ms = static_cast<unsigned>(time.tv_sec) * 1000U + static_cast<unsigned>(time.tv_nsec / 1'000'000);
  const auto since_ms = now_ms - static_cast<unsigned>(latest_ms);
  if (asked_to_stop != 0 && since_ms < (signal == SIGHUP ? kHangup_ms : signal == latest ? kSame_ms : 0)) return true;
  latest = signal;
  latest_ms = static_cast<int>(now_ms);
  return false;
}

/// While an object lives, the signals of stop_signals() set the flag and do not end the process. An ignored signal stays
/// ignored, because of nohup. Objects may be nested: an inner object keeps the flag of an earlier signal. For one thread only.
class StopOnSignal {
 public:
  StopOnSignal() {
    if (living_++ > 0) return;
    for (const int signal : stop_signals()) {
      struct sigaction action {
      }, before{};
      action.sa_handler = [](int which) {
        if (says_it_again(which)) return;
        if (asked_to_stop == 0) first_asked_to_stop = which;
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
    if (--living_ > 0) return;
    asked_to_stop = 0;
    first_asked_to_stop = 0;
    asked_to_stop_often = 0;
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  inline static int living_ = 0;
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace ablate
