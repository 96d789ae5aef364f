#include "tools/ablate/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>

#include "core/util/error.h"

namespace ablate {

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free descriptor is taken, and those below are open. What is written to a stdout that is not there must fail,
    // as it would have: so it can only be read from.
    if (open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) _exit(static_cast<int>(ExitCode::kUsage));
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int end_output(int code, int write_error) {
  errno = 0;
  std::cout.flush();
  std::fflush(stdout);
  const int error = write_error != 0 ? write_error : errno;
  if (std::cout && std::ferror(stdout) == 0) return code;
  if (error == EPIPE) return 128 + SIGPIPE;
  const char* why = error == EBADF ? "it is closed" : error == 0 ? "the disk may be full" : std::strerror(error);
  say("ablate: standard output could not be written: {}\n", why);
  return code == 0 ? static_cast<int>(ExitCode::kUsage) : code;
}

}  // namespace ablate
