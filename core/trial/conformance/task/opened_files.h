// Which files code really reads, as the kernel sees it: run in a child whose system calls are traced (ptrace).
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>

namespace ablate {

/// Whether a path leads into a folder; by their names alone.
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

/// "" or why this process may trace no child of its own (a sandbox, a container without ptrace).
std::string tracing_refusal();

/// The regular files that are opened while `run` runs, in a child, by all of its threads and processes, whatever it throws; not
/// those of the system (libraries, locales, time zones, /etc, /proc) nor those below `own`. Call it before a pool of threads
/// starts, which a child would not have.
std::set<std::filesystem::path> opened_files(const std::function<void()>& run, const std::filesystem::path& own);

}  // namespace ablate
