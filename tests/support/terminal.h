// Shows if a test can have a terminal.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/skip.h"

/// Returns false and skips the case if the machine has no pseudo-terminal: a bare chroot has no devpts at /dev/pts.
inline bool has_terminals() {
  const int one = posix_openpt(O_RDWR | O_NOCTTY);
  if (one >= 0) return close(one), true;
  skip("this machine has no pseudo-terminal");
  return false;
}
