#include "core/registry/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <boost/dll/shared_library.hpp>

#include "core/util/error.h"

namespace ablate {

const Descriptor& load_library(const std::filesystem::path& path) {
  const auto absolute = std::filesystem::absolute(path);
  boost::dll::shared_library library;
  boost::system::error_code failed;
  dlerror();
  library.load(absolute.string(), boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local, failed);
  if (failed) {
    // Boost appends an unrelated errno text to the loader's message; a second try through dlopen yields the message alone.
    if (dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      const char* why = dlerror();
      throw Error(fmt::format("{}: cannot be loaded: {}", path.string(), why != nullptr ? why : failed.message()),
                  ExitCode::kPlugin);
    }
    throw Error(fmt::format("{}: cannot be loaded: {}", path.string(), failed.message()), ExitCode::kPlugin);
  }
  if (!library.has(kPluginSymbol))
    throw Error(
        fmt::format("{}: exports no symbol {}; export one plugin with ABLATE_ATTENTION, ABLATE_COMPRESSION or ABLATE_TASK",
                    path.string(), kPluginSymbol),
        ExitCode::kPlugin);
  const auto entry = library.get<const Descriptor*()>(kPluginSymbol);
  const Descriptor* descriptor = entry();
  if (descriptor == nullptr)
    throw Error(fmt::format("{}: {} returned no descriptor", path.string(), kPluginSymbol), ExitCode::kPlugin);
  // Unloading would leave torch's registries with pointers into unmapped code.
  dlopen(absolute.c_str(), RTLD_NOW | RTLD_NODELETE);
  return *descriptor;
}

}  // namespace ablate
