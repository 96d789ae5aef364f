// Work of the worker before its first fork: it leaves no thread, which a fork would lose, and it does not affect trials.
#include <ATen/ATen.h>
#include <dlfcn.h>

#include <filesystem>

#include "core/trial/server/worker.h"
#include "tests/support/catch.h"

namespace {

std::ptrdiff_t threads() { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); }

}  // namespace

TEST_CASE("a warm worker has one thread, draws nothing and computes with as many threads as before") {
  REQUIRE(threads() == 1);
  // Two threads, as on a machine with two cores, for any setting of the environment.
  reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))(2);
  const auto generator = at::globalContext().defaultGenerator(at::kCPU).get_state();
  ablate::warm_up();
  CHECK(threads() == 1);
  CHECK(reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"))() == 2);
  CHECK(at::globalContext().defaultGenerator(at::kCPU).get_state().equal(generator));
  at::ones({2000, 2000}).sum();  // this call starts threads
  CHECK(threads() > 1);
}
