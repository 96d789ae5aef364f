// Ctrl-C and SIGTERM as a flag that a loop looks at.
#pragma once

#include <csignal>

namespace ablate {

inline volatile std::sig_atomic_t asked_to_stop = 0;

/// While it lives, SIGINT and SIGTERM set a flag instead of ending the process.
class StopOnSignal {
 public:
  StopOnSignal() {
    asked_to_stop = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { asked_to_stop = 1; };
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
  }
  ~StopOnSignal() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }

 private:
  struct sigaction interrupt_ {
  }, terminate_{};
};

}  // namespace ablate
