// What a process holds of memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace ablate {

/// Bytes that a process shares with no other, swapped-out ones included: of a forked child what it does not share with its
/// parent. -1 where the kernel does not say, as of a process that is gone. @param proc the kernel's folder, which tests replace
std::int64_t own_memory(pid_t process, const std::filesystem::path& proc = "/proc");

/// Bytes of its data as RLIMIT_DATA counts them, whether touched or not; -1 where the kernel does not say.
std::int64_t data_size(pid_t process, const std::filesystem::path& proc = "/proc");

}  // namespace ablate
