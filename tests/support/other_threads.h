// Shows if work is shared among threads.
#pragma once

#include <ctime>

namespace ablate::test {

/// Returns the share of f()'s processor time that threads other than this one used, 0 to 1.
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
