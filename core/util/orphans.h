// Processes that outlive their parent.
#pragma once

#include <sys/types.h>

#include <set>

namespace ablate {

/// From now on, orphaned descendants become children of this process.
void adopt_orphans();

std::set<pid_t> own_children();

/// Protects a child from end_orphans until spare_no_longer. For one thread only.
void spare_child(pid_t child);
void spare_no_longer(pid_t child);

/// Ends every child of this process except the spared ones. Repeats this until no child is left, because the orphans of an
/// ended child are adopted only after its end. Gives up after some seconds, in case processes fork faster than they end.
void end_orphans(const std::set<pid_t>& spared);

}  // namespace ablate
