// The control groups that this process lies in, of either version: batch systems and containers limit what it may have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate {

/// The folders of this process's group and of all that it lies in, whose limits hold for it, too, the innermost first. In a
/// container the group may be the root of what is mounted.
/// @param controller "memory", "cpu" @param root of the file system; another one in tests
std::vector<std::filesystem::path> control_groups(const std::string& controller, const std::filesystem::path& root = "/");

/// The first number of a file; -1: it has none, as "max".
std::int64_t first_number(const std::filesystem::path& file);

/// How many processors' time its groups give this process; 0: any number.
double processor_quota(const std::filesystem::path& root = "/");

}  // namespace ablate
