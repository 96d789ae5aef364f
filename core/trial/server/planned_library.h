// Loads a library if its content is still the content that the host looked at.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "ablate/plugin.h"
#include "core/util/error.h"

namespace ablate {

/// Error for a library that was built or installed again after the host looked at it. The plugin is not at fault.
class LibraryReplaced : public Error {
 public:
  explicit LibraryReplaced(const std::filesystem::path& path);
};

/// Calls load_library for a file that the host has read. Throws LibraryReplaced if the content has changed, before any code of
/// the file runs. If it changes during the load, changed code may run first. Also throws the exceptions of load_library.
/// @param hashes {path: SHA-256}; a path without a hash is loaded unchecked
/// @param put_back called after the library's own code has run, which may have left the process unable to open a file
const Descriptor& load_as_planned(const std::filesystem::path& path, const std::map<std::string, std::string>& hashes,
                                  const std::function<void()>& put_back = {});

}  // namespace ablate
