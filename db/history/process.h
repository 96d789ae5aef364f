// Identifies the process that wrote a row, so that a later process can check whether it is still alive. Internal to db/.
#pragma once

#include <cstdint>
#include <string>

namespace ablate::db {

struct Process {
  std::string host;
  std::int64_t id = 0;
  std::int64_t started = 0;  ///< clock ticks from the machine's start to the process's start; distinguishes a reused PID
};

std::string this_host();
Process this_process();

/// True if a process of this_host() still runs or is stopped.
bool lives(const Process& process);

}  // namespace ablate::db
