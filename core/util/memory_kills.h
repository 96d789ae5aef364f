// The kernel's word on memory: what a process holds, what is left, and whether its memory killer has ended a process, which
// nobody can tell from the signal alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace ablate {

/// Bytes that a process shares with no other, swapped-out ones included: of a forked child what it does not share with its
/// parent. -1 where the kernel does not say, as of a process that is gone. @param proc the kernel's folder, which tests replace
std::int64_t own_memory(pid_t process, const std::filesystem::path& proc = "/proc");

/// Bytes of its data as RLIMIT_DATA counts them, whether touched or not; -1 where the kernel does not say.
std::int64_t data_size(pid_t process, const std::filesystem::path& proc = "/proc");

/// What the kernel says; -1 where it does not.
struct MemoryState {
  std::int64_t killed_in_group = -1;  ///< processes of this control group that the memory killer has ended so far
  std::int64_t killed = -1;           ///< the same on this machine
  std::int64_t total_bytes = -1;      ///< of the machine, or what the control group may have
  std::int64_t available_bytes = -1;  ///< of these what could be had without swapping
};

/// @param root the file system's, which tests replace
MemoryState look_at_memory(const std::filesystem::path& root = "/");

/// Whether the kernel says that its memory killer has ended processes between two looks.
bool counts_kills(const MemoryState& before, const MemoryState& now);

/// Whether so little was left that what a signal 9 has ended was ended for its memory.
bool is_short(const MemoryState& now);

/// Whether the kernel's log tells that the memory killer has ended this process since then. @param log as dmesg has it; nothing
/// where this process may not read it @param since_s since the machine's start
bool log_tells_kill(const std::string& log, pid_t process, double since_s);
/// The kernel's log; "" where it may not be read.
std::string kernel_log();
/// Seconds since the machine's start, as the kernel's log counts them.
double since_start_s();

/// Of a process that signal 9 ended, which nobody here has sent: what is likely, and what speaks for it. One sentence's part.
/// @param before when it started @param now when it has ended @param peak_bytes of its resident memory; 0: not known
std::string killed_text(const MemoryState& before, const MemoryState& now, std::int64_t peak_bytes);

}  // namespace ablate
