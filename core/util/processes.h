// Other processes of this machine, by their number and start.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace ablate {

/// In clock ticks from the machine's start: by it a process is told from an earlier one of the same number. 0: there is no such
/// process, or it is dead and not yet waited for.
std::int64_t start_of_process(std::int64_t id);

/// Where process numbers mean the same: this start of the machine, and this namespace. "": not known.
std::string process_space();

/// Ends a process and all of its descendants, as far as they can be seen, and waits some seconds for their end.
/// @param started as start_of_process had it: another process of that number is left alone @return whether there was one to end
bool end_process_tree(std::int64_t id, std::int64_t started);

}  // namespace ablate
