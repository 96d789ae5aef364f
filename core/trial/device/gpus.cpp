#include "core/trial/device/gpus.h"

#include <dlfcn.h>

namespace ablate {
namespace {

/// Of NVML's functions, which all return 0 where they succeed. NVML's header comes with CUDA, which a build may lack.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL)) {}
  ~Nvml() {
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  template <class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    void* const function = library_ != nullptr ? dlsym(library_, name) : nullptr;
    return function != nullptr && reinterpret_cast<int (*)(Arguments...)>(function)(arguments...) == 0;
  }

 private:
  void* library_;
};

}  // namespace

Gpus find_gpus() {
  Gpus found;
  const Nvml nvml;
  if (!nvml.call("nvmlInit_v2")) return found;
  char text[128] = "";
  if (nvml.call("nvmlSystemGetDriverVersion", text, static_cast<unsigned>(sizeof(text)))) found.driver = text;
  unsigned count = 0;
  nvml.call("nvmlDeviceGetCount_v2", &count);
  for (unsigned i = 0; i < count; ++i) {
    void* device = nullptr;
    if (nvml.call("nvmlDeviceGetHandleByIndex_v2", i, &device) &&
        nvml.call("nvmlDeviceGetName", device, text, static_cast<unsigned>(sizeof(text))))
      found.names.push_back(text);
  }
  nvml.call("nvmlShutdown");
  return found;
}

}  // namespace ablate
