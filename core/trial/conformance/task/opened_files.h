// Files that code really reads, as the kernel reports them: the code runs in a child whose system calls are traced (ptrace).
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>

namespace ablate {

/// True if a path is inside a folder, at any depth. Compares only the names, without reading the disk.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Returns "", or the reason why this process is not allowed to trace its own child (a sandbox, a container without ptrace).
std::string tracing_refusal();

/// Calls `run` in a child, and returns the regular files that its threads and processes open, even if `run` throws. Leaves out
/// files of the system (libraries, locales, time zones, /etc, /proc) and files below `own`. Call it before a pool of threads
/// starts, because a child would not have the pool.
std::set<std::filesystem::path> opened_files(const std::function<void()>& run, const std::filesystem::path& own);

}  // namespace ablate
