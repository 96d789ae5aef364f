#include "tools/ablate/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/util/error.h"

namespace ablate {

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free descriptor. This is `stream`, because all lower descriptors are open. Writing to a missing
    // stdout must still fail, so stdout is opened for reading only.
    if (open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) _exit(static_cast<int>(ExitCode::kUsage));
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is treated like a full disk
}

bool stdout_is_read() {
  pollfd reader{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&reader, 1, 0) != 1 || (reader.revents & POLLERR) == 0;
}

int end_output(int code) {
  errno = 0;
  std::fflush(stdout);
  std::string why = errno != 0 ? std::strerror(errno) : "the disk may be full";  // errno is 0 if an earlier write failed
  if (std::ferror(stdout) == 0) return code;
  if (!stdout_is_read()) return kNoReader;
  if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) why = "it is closed";
  say("ablate: standard output could not be written: {}\n", why);
  return code == 0 ? static_cast<int>(ExitCode::kUsage) : code;
}

}  // namespace ablate
