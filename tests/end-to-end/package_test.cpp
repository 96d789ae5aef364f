// find_package(ablate) and ablate_add_plugin, with an installed ablate and a build tree. Also errors of the linker, and CUDA.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/end-to-end/stranger.h"
#include "tests/support/skip.h"

namespace {

constexpr const char* kProject = R"(
cmake_minimum_required(VERSION 3.25)
project(stranger CXX)
find_package(ablate 0.1 REQUIRED)
find_package(ablate 0.1 REQUIRED)
ablate_add_plugin(my-task TORCH_FREE SOURCES my_task.cpp)
ablate_add_plugin(calls-what-is-missing SOURCES missing.cpp my_task.cpp)
ablate_add_plugin(exports-no-plugin SOURCES empty.cpp)
)";

constexpr const char* kCudaProject = R"(
cmake_minimum_required(VERSION 3.25)
project(stranger CXX)
find_package(ablate REQUIRED)
ablate_add_plugin(my-task TORCH_FREE SOURCES my_task.cpp launch.cpp CUDA_SOURCES kernel.cu)
)";

constexpr const char* kKernel = R"(
#include <ablate/rate.h>
#if __has_include(<torch/types.h>)
#error "torch is on the include path of a .cu file"
#endif
__global__ void scale(float* x, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) x[i] *= 2;
}
void launch(float* x, long n, void* stream) { scale<<<(n + 255) / 256, 256, 0, static_cast<cudaStream_t>(stream)>>>(x, n); }
)";

// An exported function, whose name shows whether the library was built with its CUDA sources.
constexpr const char* kLaunch = R"(
#ifdef ABLATE_HAS_CUDA_SOURCES
void launch(float* x, long n, void* stream);
extern "C" __attribute__((visibility("default"))) void with_cuda(float* x, long n, void* stream) { launch(x, n, stream); }
#else
extern "C" __attribute__((visibility("default"))) void without_cuda() {}
#endif
)";

nlohmann::json described(const Stranger& stranger, const std::string& folder) {
  return nlohmann::json::parse(stranger.output_of("ablate --plugins " + folder + " plugins my-task --format json"));
}

/// Returns the functions and constants that a library exports, except functions of templates.
std::string exported(const Stranger& stranger, const std::string& library) {
  return stranger.output_of("nm -D --defined-only " + library + " | awk '$2 ~ /[TRDB]/ {print $3}' | sort | xargs");
}

}  // namespace

TEST_CASE("a plugin has the same code with an installed ablate and with a build tree, and the linker checks it", "[package]") {
  Stranger stranger;
  stranger.install();
  stranger.output_of("ablate new task my-task");
  std::ofstream(stranger.work() / "my-task/CMakeLists.txt") << kProject;
  std::ofstream(stranger.work() / "my-task/missing.cpp") << "int missing(int);\nint calls(int x) { return missing(x); }\n";
  std::ofstream(stranger.work() / "my-task/empty.cpp") << "int nothing() { return 0; }\n";
  stranger.output_of("cmake -G Ninja -S my-task -B prefix; cmake --build prefix --target my-task");
  CHECK(exported(stranger, "prefix/my-task.so") == "ablate_abi ablate_plugin\n");

  // The build tree compiles a copy of the folder, so that all paths differ.
  stranger.output_of(std::string("cp -r my-task copy; cmake -G Ninja -S copy -B tree -DCMAKE_PREFIX_PATH=") + ABLATE_BUILD_DIR +
                     "; cmake --build tree --target my-task");
  const auto from_prefix = described(stranger, "prefix"), from_tree = described(stranger, "tree");
  CHECK(from_prefix.at("code_digest").get<std::string>().size() == 64);
  CHECK(from_prefix.at("code_digest") == from_tree.at("code_digest"));
  const auto cache = read_text(stranger.work() / "tree/CMakeCache.txt");
  CHECK(says(cache, std::string("ablate_DIR:PATH=") + ABLATE_BUILD_DIR + "\n"));

  const auto missing = stranger.shell("cmake --build prefix --target calls-what-is-missing");
  CHECK(missing.exit_code != 0);
  CHECK(says(missing.out + missing.err, "undefined reference to `missing(int)'"));
  const auto empty = stranger.shell("cmake --build prefix --target exports-no-plugin");
  CHECK(empty.exit_code != 0);
  CHECK(says(empty.out + empty.err, "`ablate_plugin' not defined"));
}

TEST_CASE("CUDA sources are compiled if a toolkit is installed, and left out otherwise", "[package][cuda]") {
  Stranger stranger;
  stranger.install();
  stranger.output_of("ablate new task my-task");
  std::ofstream(stranger.work() / "my-task/CMakeLists.txt") << kCudaProject;
  std::ofstream(stranger.work() / "my-task/kernel.cu") << kKernel;
  std::ofstream(stranger.work() / "my-task/launch.cpp") << kLaunch;

  const auto without =
      stranger.output_of("cmake -G Ninja -S my-task -B without -DCMAKE_CUDA_COMPILER=NOTFOUND; cmake --build without");
  CHECK(says(without, "my-task: no CUDA toolkit was found"));
  CHECK(exported(stranger, "without/my-task.so") == "ablate_abi ablate_plugin without_cuda\n");
  const auto plain = described(stranger, "without");

  const auto with = stranger.output_of("cmake -G Ninja -S my-task -B with; cmake --build with");
  if (says(with, "no CUDA toolkit was found")) return skip("no CUDA toolkit; only the build without CUDA was tested");
  CHECK(exported(stranger, "with/my-task.so") == "ablate_abi ablate_plugin with_cuda\n");
  // The library loads on a machine without a device. Its code digest differs from the digest of the build without CUDA.
  CHECK(described(stranger, "with").at("code_digest") != plain.at("code_digest"));
}

TEST_CASE("a new plugin's kernel is tested on a CPU, and the test finds a wrong kernel", "[package][cuda]") {
  Stranger stranger;
  stranger.install();
  stranger.output_of("ablate new attention my-kernel --cuda");
  const auto built = stranger.output_of(
      "cmake -G Ninja -S my-kernel -B without -DCMAKE_CUDA_COMPILER=NOTFOUND; cmake --build without; "
      "ctest --test-dir without -E '^check$' --output-on-failure");
  CHECK(says(built, "my-kernel: no CUDA toolkit was found"));
  CHECK(says(built, "100% tests passed, 0 tests failed out of 3"));

  auto kernel = read_text(stranger.work() / "my-kernel/kernel.cu");
  const std::string right = "(d_weights[key] - sum)";
  REQUIRE(says(kernel, right));
  std::ofstream(stranger.work() / "my-kernel/kernel.cu") << kernel.replace(kernel.find(right), right.size(), "d_weights[key]");
  const auto wrong = stranger.shell("cmake --build without --target kernel && ctest --test-dir without -R kernel -V");
  CHECK(wrong.exit_code != 0);
  CHECK(says(wrong.out, "found an error of"));
}
