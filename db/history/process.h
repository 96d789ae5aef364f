// Which process wrote something, so that a later one can tell whether it still lives. Internal to db/.
#pragma once

#include <cstdint>
#include <string>

namespace ablate::db {

struct Process {
  std::string host;
  std::int64_t id = 0;
  std::int64_t started = 0;  ///< clock ticks from the machine's start to its own: tells a number that is used again
};

std::string this_host();
Process this_process();

/// Of a process of this_host(): whether it still runs, stopped ones included.
bool lives(const Process& process);

}  // namespace ablate::db
