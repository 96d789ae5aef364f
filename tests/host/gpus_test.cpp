// Answers of the GPU driver, and the GPU that a device name selects in CUDA.
#include "core/util/gpus.h"

#include "tests/support/catch.h"

using namespace ablate;

TEST_CASE("the driver reports names and free memory, and without a driver nothing is known") {
  const GpuDriver driver(ABLATE_BUILD_DIR "/tests/fake-nvml/libnvidia-ml.so.1");
  for (int i = 0; i < 2; ++i) {  // repeated calls work
    const auto found = driver.look();
    CHECK(found.driver == "570.86.15");
    REQUIRE(found.all.size() == 1);  // the other GPU is lost
    CHECK(found.all[0].name == "Test GPU 9000");
    CHECK(found.all[0].uuid == "GPU-5a1e");
    CHECK(found.all[0].free_bytes == 75LL << 30);
  }
  for (const char* none : {"/nowhere/libnvidia-ml.so.1", "libelf.so.1"}) {  // missing; another library
    const auto found = GpuDriver(none).look();
    CHECK(found.all.empty());
    CHECK(found.driver.empty());
  }
}

TEST_CASE("a device's name stands for the same GPU as in CUDA") {
  const std::vector<Gpu> alike = {{"A", "GPU-12", 10}, {"A", "GPU-34", 20}, {"A", "GPU-35", 30}};
  const auto mixed = std::vector<Gpu>{{"A", "GPU-12", 10}, {"B", "GPU-34", 20}};
  CHECK(free_bytes_of(alike, "cuda", nullptr, nullptr) == 10);
  CHECK(free_bytes_of(alike, "cuda:2", nullptr, nullptr) == 30);
  CHECK(free_bytes_of(alike, "cuda:1", "2,0", nullptr) == 10);
  CHECK(free_bytes_of(alike, "cuda", "GPU-35,GPU-34", nullptr) == 30);
  CHECK(free_bytes_of(alike, "cuda:1", "GPU-35,GPU-34", nullptr) == 20);
  CHECK(free_bytes_of(mixed, "cuda:1", nullptr, "PCI_BUS_ID") == 20);
  CHECK(free_bytes_of(mixed, "cuda:1", nullptr, nullptr) == 10);  // CUDA's first GPU is the fastest, which is unknown here
  CHECK(free_bytes_of(mixed, "cuda", "GPU-34", nullptr) == 20);
  for (const char* none : {"cuda:3", "cuda:", "cuda:x", "cuda:-1"}) CHECK(free_bytes_of(alike, none, nullptr, nullptr) == -1);
  for (const char* visible : {"", "-1", "3", "MIG-7", "x", " 1"}) {
    INFO(visible);
    CHECK(free_bytes_of(alike, "cuda", visible, nullptr) == -1);
  }
  CHECK(free_bytes_of(alike, "cuda:1", "0", nullptr) == -1);
  CHECK(free_bytes_of({}, "cuda", nullptr, nullptr) == -1);
}
