#include "core/trial/server/environment.h"

#include <ATen/Version.h>
#include <ATen/cpu/Utils.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <thread>

#include "core/kernels/choice.h"
#include "core/kernels/mixed_products.h"
#include "core/util/gpus.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

/// True if an environment variable may change the numbers of torch and its libraries. Paths do not change numbers.
bool changes_numbers(std::string_view name) {
  constexpr std::string_view kBegins[] = {"ATEN_",
                                          "MKL_",
                                          "DNNL_",
                                          "ONEDNN_",
                                          "OMP_",
                                          "GOMP_",
                                          "KMP_",
                                          "OPENBLAS_",
                                          "TORCH_",
                                          "PYTORCH_",
                                          "CUBLAS_",
                                          "CUDNN_",
                                          "NVIDIA_TF32_OVERRIDE",
                                          "CUDA_",
                                          "LD_PRELOAD",
                                          "LD_AUDIT"};
  constexpr std::string_view kPlaces[] = {"_HOME", "_PATH", "_DIR", "_ROOT"};
  const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
  const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
  return std::any_of(std::begin(kBegins), std::end(kBegins), begins) &&
         std::none_of(std::begin(kPlaces), std::end(kPlaces), ends);
}

nlohmann::json variables() {
  auto found = nlohmann::json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    if (name.size() < text.size() && changes_numbers(name)) found[std::string(name)] = text.substr(name.size() + 1);
  }
  return found;
}

}  // namespace

nlohmann::json describe_environment() {
  utsname system{};
  uname(&system);
  const auto gpus = GpuDriver().look();
  auto names = nlohmann::json::array();
  for (const auto& gpu : gpus.all) names.push_back(gpu.name);
  return {{"host", system.nodename},
          {"system", std::string(system.sysname) + " " + system.release},
          {"processor", processor_name()},
          {"cores", std::thread::hardware_concurrency()},
          {"gpus", names},
          {"gpu_driver", gpus.driver},
          {"compiler", __VERSION__},
          {"torch", TORCH_VERSION},
          {"cpu_capability", at::get_cpu_capability()},
          {"kernels", kernels::instructions().empty() ? "none" : kernels::instructions()},
          {"kernels_bfloat16", kernels::mixed_instructions().empty() ? "none" : kernels::mixed_instructions()},
          {"libraries",
           {{"mkl", one_line(at::get_mkl_version())},
            {"onednn", one_line(at::get_mkldnn_version())},
            {"openmp", one_line(at::get_openmp_version())},
            {"glibc", gnu_get_libc_version()},
            {"libstdc++", std::to_string(__GLIBCXX__)}}},
          {"variables", variables()},
          {"ablate", ABLATE_VERSION},
          {"git", git_revision()}};
}

}  // namespace ablate
