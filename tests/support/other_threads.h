// Whether work is shared out.
#pragma once

#include <ctime>

namespace ablate::test {

/// How much of the processor time of f() other threads than this one take, 0 to 1.
template <class F>
double share_of_other_threads(const F& f) {
  const auto now = [](clockid_t of) {
    timespec time{};
    clock_gettime(of, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double all = now(CLOCK_PROCESS_CPUTIME_ID), own = now(CLOCK_THREAD_CPUTIME_ID);
  f();
  return 1 - (now(CLOCK_THREAD_CPUTIME_ID) - own) / (now(CLOCK_PROCESS_CPUTIME_ID) - all);
}

}  // namespace ablate::test
