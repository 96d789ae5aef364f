// Control groups (version 1 or 2) of this process, by which batch systems and containers limit its resources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate {

/// Returns the folders of this process's group and of all groups around it, the innermost first. The limits of all of them
/// apply. In a container, the group may be the root of the mounted file system.
/// @param controller "memory", "cpu"
/// @param root root of the file system; another folder in tests
std::vector<std::filesystem::path> control_groups(const std::string& controller, const std::filesystem::path& root = "/");

/// Returns the number at the start of a file; -1 if another word is there ("max"), or if the file is missing.
std::int64_t first_number(const std::filesystem::path& file);

/// Returns the processor time that the control groups allow this process, as a number of processors (1.5); 0: no limit.
double processor_quota(const std::filesystem::path& root = "/");

}  // namespace ablate
