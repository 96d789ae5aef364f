// What of the process and the machine a running grid depends on. A test, or a simulation of many grids, owns each.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>

#include "core/host/scheduler/room.h"
#include "core/util/clock.h"
#include "core/util/output.h"
#include "core/util/stop_on_signal.h"

namespace ablate {

/// Who asks a grid to stop.
struct StopRequests {
  /// How many came. A signal is known before it is counted, which another thread may see.
  std::function<int()> often = [] { return asked_to_stop == 0 ? 0 : std::max(1, static_cast<int>(asked_to_stop_often)); };
  std::function<std::string()> who = who_asked_to_stop;  ///< of the latest

  bool any() const { return often() > 0; }
};

struct Surroundings {
  Clock& clock = machine_clock();
  Output& output = standard_error();
  StopRequests stops = {};  ///< by default the process's signals
  Room room = {};           ///< by default nothing of it is known
  int process = getpid();   ///< its number, which tells what it leaves behind from what others do
};

}  // namespace ablate
