// Whether a test can have a terminal.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/catch.h"

/// False, with a word, where the machine gives no pseudo-terminals: a bare chroot has no devpts at /dev/pts.
inline bool has_terminals() {
  const int one = posix_openpt(O_RDWR | O_NOCTTY);
  if (one >= 0) return close(one), true;
  WARN("this machine gives no pseudo-terminal: what is said at one is not tested");
  return false;
}
