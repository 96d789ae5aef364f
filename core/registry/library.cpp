#include "core/registry/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <boost/dll/shared_library.hpp>

#include "core/registry/abi_check.h"
#include "core/util/error.h"

namespace ablate {

const Descriptor& load_library(const std::filesystem::path& path) {
  const auto refuse = [&](const std::string& why) { throw Error(path.string() + ": " + why, ExitCode::kPlugin); };
  // The scan has checked this, but the file may have changed since.
  if (const auto why = abi_refusal(path, ABLATE_TORCH_VERSION); !why.empty()) refuse(why);
  const auto absolute = std::filesystem::absolute(path);
  boost::dll::shared_library library;
  boost::system::error_code failed;
  dlerror();
  library.load(absolute.string(), boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local, failed);
  if (failed) {
    // Boost appends an unrelated errno text to the loader's message. A second try, through dlopen, yields only the message.
    if (dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      const char* why = dlerror();
      refuse(fmt::format("cannot be loaded: {}", why != nullptr ? why : failed.message()));
    }
    refuse(fmt::format("cannot be loaded: {}", failed.message()));
  }
  if (!library.has(kPluginSymbol))
    refuse(fmt::format("exports no symbol {}; export one plugin with ABLATE_ATTENTION, ABLATE_COMPRESSION or ABLATE_TASK",
                       kPluginSymbol));
  const auto entry = library.get<const Descriptor*()>(kPluginSymbol);
  const Descriptor* descriptor = entry();
  if (descriptor == nullptr) refuse(fmt::format("{} returned no descriptor", kPluginSymbol));
  // The stamp in the ELF section was valid, so a descriptor with another stamp contradicts its own section.
  if (const auto why = abi_difference(descriptor->abi, host_stamp(ABLATE_TORCH_VERSION)); !why.empty())
    refuse(fmt::format("its descriptor contradicts its section {}: {}", kAbiSection, why));
  // Unloading would leave torch's registries with pointers into unmapped code.
  dlopen(absolute.c_str(), RTLD_NOW | RTLD_NODELETE);
  return *descriptor;
}

}  // namespace ablate
