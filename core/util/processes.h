// Other processes of this machine, identified by PID and start time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace ablate {

/// Returns the start of a process in clock ticks since the machine's start. This number distinguishes the process from an
/// earlier process with the same PID. 0: there is no such process, or it is dead and not yet waited for.
std::int64_t start_of_process(std::int64_t id);

/// Identifies the machine's boot and the PID namespace, in which PIDs have one meaning. "": unknown.
std::string process_space();

/// Ends a process and all its visible descendants, and waits some seconds for their end.
/// Leaves a process alone if its start_of_process is not `started`. Returns true if the process existed.
bool end_process_tree(std::int64_t id, std::int64_t started);

}  // namespace ablate
