// A library that is loaded as what the host knows of it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "ablate/plugin.h"
#include "core/util/error.h"

namespace ablate {

/// No fault of the plugin: somebody has built or installed meanwhile.
class LibraryReplaced : public Error {
 public:
  explicit LibraryReplaced(const std::filesystem::path& path);
};

/// load_library of what the host has looked at. Throws LibraryReplaced where the file has another content by now, before any of
/// it runs, and what load_library throws.
/// @param hashes {path: SHA-256}; a path that is not in it is loaded as it is @param put_back called when the library's own
/// code has run, which may have left the process unable to open a file
const Descriptor& load_as_planned(const std::filesystem::path& path, const std::map<std::string, std::string>& hashes,
                                  const std::function<void()>& put_back = {});

}  // namespace ablate
