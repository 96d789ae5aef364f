// Whether it was the kernel's memory killer that ended a process: of the signal alone nobody can tell.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace ablate {

/// What the kernel says; -1 where it does not.
struct MemoryState {
  std::int64_t killed_in_group = -1;  ///< processes of this control group that the memory killer has ended so far
  std::int64_t killed = -1;           ///< the same on this machine
  std::int64_t total_bytes = -1;      ///< of the machine, or what the control group may have
};

/// @param root the file system's, which tests replace
MemoryState look_at_memory(const std::filesystem::path& root = "/");

/// Of a process that signal 9 ended, which nobody here has sent: what is likely, and what speaks for it. One sentence's part.
/// @param before when it started @param now when it has ended @param peak_bytes of its resident memory; 0: not known
std::string killed_text(const MemoryState& before, const MemoryState& now, std::int64_t peak_bytes);

}  // namespace ablate
