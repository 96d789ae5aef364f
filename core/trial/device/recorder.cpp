#include "core/trial/device/recorder.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "core/trial/device/device.h"
#include "core/util/error.h"

namespace ablate {
namespace {

/// Returns the path of lib/ablate/cuda-graphs.so in the prefix or build folder of this program.
std::filesystem::path graphs_library() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/ablate/cuda-graphs.so";
}

}  // namespace

std::unique_ptr<WorkRecorder> open_recorder(c10::Device device) {
  if (device.is_cpu()) throw Error("steps can be replayed only on a CUDA device, and this device is the CPU");
  load_cuda();
  const auto path = graphs_library();
  if (!std::filesystem::exists(path))
    throw Error(fmt::format("there is no {}: it is built if CMake finds CUDA's headers; tools/setup --cuda fetches them",
                            path.string()));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error(fmt::format("{} cannot be loaded: {}", path.string(), dlerror()));
  const auto make = reinterpret_cast<MakeRecorder*>(dlsym(library, "ablate_make_recorder"));
  if (make == nullptr) throw Error(fmt::format("{} has no ablate_make_recorder; it is of another build", path.string()));
  synchronize(device);  // waits for work on other streams
  return std::unique_ptr<WorkRecorder>(make(device.index()));
}

}  // namespace ablate
