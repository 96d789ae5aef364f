#include <ATen/Version.h>
#include <ATen/cpu/Utils.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include <fstream>
#include <thread>

#include "core/runtime/device.h"
#include "core/worker/jobs.h"

namespace ablate {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

nlohmann::json describe_environment() {
  utsname system{};
  uname(&system);
  return {{"host", system.nodename},
          {"system", std::string(system.sysname) + " " + system.release},
          {"processor", processor_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"compiler", __VERSION__},
          {"torch", TORCH_VERSION},
          {"cpu_capability", at::get_cpu_capability()},
          {"gpu_driver", cuda_driver_present()},
          {"ablate", ABLATE_VERSION},
          {"git", ABLATE_GIT}};
}

}  // namespace ablate
