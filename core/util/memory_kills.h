// Memory, as the kernel reports it: how much a process uses, how much is left, and whether the memory killer ended a process. A
// process's signal 9 alone does not show who sent it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace ablate {

/// Returns the bytes that a process shares with no other process, including swapped-out bytes. Bytes that a forked child shares
/// with its parent do not count. -1 if unknown, as for an ended process. `proc`: the kernel's folder, or another in tests.
std::int64_t own_memory(pid_t process, const std::filesystem::path& proc = "/proc");

/// Returns the bytes of a process's data as RLIMIT_DATA counts them, touched or not; -1 if unknown.
std::int64_t data_size(pid_t process, const std::filesystem::path& proc = "/proc");

/// Memory of the machine and the control group; -1 if unknown.
struct MemoryState {
  std::int64_t killed_in_group = -1;  ///< number of this control group's processes that the memory killer has ended
  std::int64_t killed = -1;           ///< number of this machine's processes that the memory killer has ended
  std::int64_t total_bytes = -1;      ///< memory of the machine, or the control group's limit
  std::int64_t available_bytes = -1;  ///< part of total_bytes that is available without swapping
};

/// @param root of the file system; tests have their own
MemoryState look_at_memory(const std::filesystem::path& root = "/");

/// True if the kernel's memory killer ended a process between the two states, by the kernel's own count.
bool counts_kills(const MemoryState& before, const MemoryState& now);

/// True if so little memory was left that the memory killer probably sent a signal 9.
bool is_short(const MemoryState& now);

/// True if the kernel's log has an entry that the memory killer ended this process since `since_s`.
/// @param log in the form of dmesg; "" if this process may not read it
/// @param since_s seconds since the machine's start
bool log_tells_kill(const std::string& log, pid_t process, double since_s);
/// Returns the kernel's log; "" if this process may not read it.
std::string kernel_log();
/// Seconds since the machine's start, as the kernel's log counts them.
double since_start_s();

/// Returns a part of a sentence about a signal 9 that this program did not send: the likely cause, and the evidence.
/// `before` and `now`: states at the process's start and end. `peak_bytes`: its peak resident memory; 0: unknown.
std::string killed_text(const MemoryState& before, const MemoryState& now, std::int64_t peak_bytes);

}  // namespace ablate
