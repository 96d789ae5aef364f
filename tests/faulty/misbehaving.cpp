// A library that misbehaves while it is loaded: it calls DO, one of the functions below. Its descriptor is correct.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <iostream>
#include <stdexcept>

#include "trivial_task.h"

namespace {

[[maybe_unused]] void crash() { raise(SIGSEGV); }
[[maybe_unused]] void throw_error() { throw std::runtime_error("thrown while loading"); }
[[maybe_unused]] void leave() { exit(0); }
[[maybe_unused]] void hang() { pause(); }
[[maybe_unused]] void kill_worker() { kill(getppid(), SIGKILL); }
[[maybe_unused]] void close_all() { closefrom(0); }

/// Prints two-byte characters, one more byte and a terminal code. The tail that the host keeps then starts inside a character.
[[maybe_unused]] void print_and_crash() {
  for (int i = 0; i < 1000; ++i) std::cout << "é";
  std::cout << "!\033[2J" << std::endl;
  crash();
}

/// Does harm that the host must undo or survive.
[[maybe_unused]] void meddle() {
  signal(SIGCHLD, SIG_IGN);
  fork();
  if (chdir("/") != 0) crash();
  rlimit few{};
  getrlimit(RLIMIT_NOFILE, &few);
  few.rlim_cur = 4;
  setrlimit(RLIMIT_NOFILE, &few);
}

[[maybe_unused]] const int done = (DO(), 0);

}  // namespace

ABLATE_TASK(TrivialTask, {.id = FIXTURE_ID, .version = "1.0.0", .summary = "misbehaves while it is loaded"})
