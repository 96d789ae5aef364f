// The tests of core/kernels/cuda on a device; exits with 77 (skipped) if there is no device.
#include <cstdio>

#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.h"

namespace ablate::kernels::cuda {
bool has_device();
}

int main(int count, char** arguments) {
  if (ablate::kernels::cuda::has_device()) return Catch::Session().run(count, arguments);
  std::puts("skipped: gpu: there is no CUDA device");
  return 77;
}
