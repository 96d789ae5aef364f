// A plugin library's code identity, from what its compiler and its linker read. Torch-free.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/identity/command.h"

namespace ablate::identity {

/// How a library was built, as ablate_add_plugin knows it.
struct Build {
  std::filesystem::path map;               ///< the linker's, which says what it read
  std::filesystem::path compile_commands;  ///< how its objects were compiled; those that are not in it count by their content
  std::vector<std::filesystem::path> folders;         ///< where a relative path of the map may start
  std::filesystem::path sdk;                          ///< the SDK's include folder
  std::vector<std::filesystem::path> system_headers;  ///< folders of headers that do not count
  std::vector<std::filesystem::path> system_objects;  ///< folders of objects that do not count (crti.o)
  std::vector<std::string> system_libraries;          ///< static libraries of the compiler: gcc, cudart_static
  /// Sources that count, compiled or not, and their headers: CUDA's, which are left out where there is no toolkit.
  std::vector<std::filesystem::path> cuda_sources;
  Places places;
};

struct Identity {
  std::string code;     ///< 64 hex digits; "" where it cannot be known
  std::string headers;  ///< the SDK's that were met: "ablate/plugin.h=HEX16 ablate/task.h=HEX16"
  std::vector<std::string> warnings;
};

/// Throws Error where something cannot be read.
Identity identity_of(const Build& build);

/// The members of a static library that is installed without its sources, the SDK's: a digest of the code of each object, by
/// name, one a line. It lies beside the library, as kMembersFile says, and counts in place of what is in the library: that is
/// another wherever it is built. Throws Error where an object is not among the compile commands.
std::string members_of(const Build& build, const std::vector<std::filesystem::path>& objects);
inline constexpr const char* kMembersFile = ".identity";  ///< after the library's whole name

/// What the host compares with Identity::headers: the SDK's headers that `roots` include, in the same form.
std::string contract_of(const std::filesystem::path& sdk, const std::vector<std::string>& roots);

}  // namespace ablate::identity
