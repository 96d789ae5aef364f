// Processes that outlive who started them.
#pragma once

#include <sys/types.h>

#include <set>

namespace ablate {

/// From now on, what a descendant leaves behind becomes a child of this process.
void adopt_orphans();

/// The processes whose parent this one is.
std::set<pid_t> own_children();

/// A child that end_orphans leaves alone, until spare_no_longer. One thread.
void spare_child(pid_t child);
void spare_no_longer(pid_t child);

/// Ends every child of this process but those that are spared, and what these leave behind in turn, until none is left: a
/// daemon's child is adopted only once its parent is gone. Gives up after some seconds, against what forks faster than it dies.
void end_orphans(const std::set<pid_t>& spared);

}  // namespace ablate
