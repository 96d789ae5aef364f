// The shim that runs CUDA sources on a CPU: it provides what kernels need, and it finds their faults.
#include "ablate/cuda/shim.h"

#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "tests/support/catch.h"

using namespace ablate;
using shim::launch;

// With the thread sanitizer, the tests count its reports. A planted fault must cause a report.
static int reports = 0;
#ifdef __SANITIZE_THREAD__
extern "C" const char* __tsan_default_options() { return "exitcode=0:suppress_equal_addresses=0"; }
// Not sanitized, because a report inside a report would wait for ever for the outer report.
extern "C" __attribute__((no_sanitize("thread"))) void __tsan_on_report(void*) { ++reports; }
constexpr bool kSeesRaces = true;
#else
constexpr bool kSeesRaces = false;
#endif

namespace {

constexpr int kCount = 96;

/// Computes to[block, i] = from[block, last - i] through shared memory.
void turned(const float* from, float* to, bool barrier) {
  ABLATE_SHARED(float, all, kCount);
  const unsigned i = threadIdx.x, first = blockIdx.x * blockDim.x;
  all[i] = from[first + i];
  if (barrier) __syncthreads();
  to[first + i] = all[kCount - 1 - i];
}

/// Adds all numbers up in two passes. Without `barrier`, the second pass overwrites numbers that other threads may still read.
void summed_twice(const float* from, float* to, bool barrier) {
  ABLATE_SHARED(float, all, kCount);
  float sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    all[threadIdx.x] = from[threadIdx.x] * static_cast<float>(pass + 1);
    __syncthreads();
    for (int i = 0; i < kCount; ++i) sum += all[i];
    if (barrier) __syncthreads();
  }
  to[threadIdx.x] = sum;
}

/// Computes the sum of a warp's numbers. `last` is the smallest distance between lanes that exchange sums. The result is right
/// only if `last` is 1.
void warp_sum(const float* from, float* to, int last) {
  float sum = from[threadIdx.x];
  for (int by = 16; by >= last; by /= 2) sum += __shfl_xor_sync(~0U, sum, by);
  to[threadIdx.x] = sum;
}

/// Blocks write to the same addresses unless `apart`.
void overlapping(const float*, float* to, bool apart) {
  to[threadIdx.x + (apart ? blockIdx.x * kCount : 0)] = static_cast<float>(blockIdx.x);
}

/// Writes the array, shifted by `past` numbers: 1 writes after its end, -1 before its start.
void past_the_end(float* to, int past) {
  ABLATE_SHARED(float, all, kCount);
  all[static_cast<int>(threadIdx.x) + past] = 1;
  __syncthreads();
  to[threadIdx.x] = all[threadIdx.x];
}

void past_global(float* to, int bound) {
  if (static_cast<int>(threadIdx.x) <= bound) to[threadIdx.x] = 1;
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<float>(i * i % 97);
  return all;
}

/// Returns a kernel's results in each order of threads and blocks. `right` is the kernel's last argument.
template <class Kernel>
std::vector<std::vector<float>> in_orders(Kernel kernel, bool right) {
  const auto from = numbers(2 * kCount);
  std::vector<std::vector<float>> found;
  for (const auto order : {shim::Order::kAscending, shim::Order::kDescending, shim::Order::kShuffled}) {
    shim::set_order(order);
    found.emplace_back(2 * kCount, -1.F);
    launch(kernel, 2, kCount, 0, nullptr, from.data(), found.back().data(), right);
  }
  shim::set_order(shim::Order::kAscending);
  return found;
}
bool all_same(const std::vector<std::vector<float>>& found) { return found[0] == found[1] && found[0] == found[2]; }

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

/// Calls `run` in a child process. True if `run` throws, or if a sanitizer ends the process.
bool harms(const std::function<void()>& run) {
  const auto child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(0);
    _exit(error_of(run).empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

}  // namespace

TEST_CASE("threads meet at barriers, and each block has its own memory", "[shim]") {
  shim::most_shared();
  const auto found = in_orders(turned, true);
  CHECK(all_same(found));
  const auto from = numbers(2 * kCount);
  for (std::size_t block = 0; block < 2; ++block)
    for (std::size_t i = 0; i < kCount; ++i) CHECK(found[0][block * kCount + i] == from[block * kCount + kCount - 1 - i]);
  CHECK(shim::most_shared() == kCount * sizeof(float));
}

TEST_CASE("a missing barrier is found by the order of threads and by the thread sanitizer", "[shim]") {
  const int before = reports;
  CHECK(all_same(in_orders(turned, true)));
  CHECK(all_same(in_orders(summed_twice, true)));
  CHECK(reports == before);
  CHECK_FALSE(all_same(in_orders(turned, false)));
  CHECK((reports > before) == kSeesRaces);
  const int between = reports;
  CHECK_FALSE(all_same(in_orders(summed_twice, false)));
  CHECK((reports > between) == kSeesRaces);
}

TEST_CASE("blocks that write the same address are found by the order of blocks", "[shim]") {
  CHECK(all_same(in_orders(overlapping, true)));
  CHECK_FALSE(all_same(in_orders(overlapping, false)));
}

TEST_CASE("lanes exchange their values, and a wrong lane gives wrong numbers", "[shim]") {
  const auto from = numbers(64);
  std::vector<float> to(64);
  for (const int last : {1, 2}) {
    launch(warp_sum, 1, 64, 0, nullptr, from.data(), to.data(), last);
    for (std::size_t i = 0; i < 64; ++i) {
      float sum = 0;
      for (std::size_t j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) sum += from[j];
      CHECK((to[i] == sum) == (last == 1));
    }
  }
  std::vector<int> all(32 * 8);
  const auto each = [](int* out) {
    const int lane = static_cast<int>(threadIdx.x);
    const int found[] = {__shfl_sync(~0U, lane, 5),
                         __shfl_sync(~0U, lane, 3, 8),
                         __shfl_up_sync(~0U, lane, 2),
                         __shfl_down_sync(~0U, lane, 3, 16),
                         static_cast<int>(__ballot_sync(~0U, lane % 3 == 0)),
                         __any_sync(~0U, lane == 7),
                         __all_sync(~0U, lane < 31),
                         __shfl_xor_sync(0xffffU << (lane / 16 * 16), lane, 9, 16)};
    for (int i = 0; i < 8; ++i) out[lane * 8 + i] = found[i];
  };
  launch(+each, 1, 32, 0, nullptr, all.data());
  for (int lane = 0; lane < 32; ++lane) {
    const int expected[] = {5, lane / 8 * 8 + 3, lane < 2 ? lane : lane - 2, lane % 16 < 13 ? lane + 3 : lane, 0x49249249, 1,
                            0, lane ^ 9};
    for (int i = 0; i < 8; ++i) CHECK(all[static_cast<std::size_t>(lane * 8 + i)] == expected[i]);
  }
}

TEST_CASE("atomic additions lose nothing, and dynamic memory belongs to the launch", "[shim]") {
  shim::most_shared();
  std::vector<int> counts(8);
  const auto count = [](int* to) {
    auto* const own = static_cast<int*>(shim::dynamic_shared());
    if (threadIdx.x < 8) own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(own + threadIdx.x % 8, 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(to + threadIdx.x, own[threadIdx.x]);
  };
  launch(+count, 5, 128, 8 * sizeof(int), nullptr, counts.data());
  CHECK(counts == std::vector<int>(8, 80));
  CHECK(shim::most_shared() == 8 * sizeof(int));
}

TEST_CASE("the shim lists the streams that kernels were launched on", "[shim]") {
  static_assert(alignof(float4) == 16);
  shim::streams();
  int one, other;
  const auto nothing = [] {};
  for (void* stream : {&one, &other, &one}) launch(+nothing, 1, 1, 0, stream);
  CHECK(shim::streams() == std::vector<void*>{&one, &other});
  CHECK(shim::streams().empty());
}

TEST_CASE("unwritten shared memory is NaN in every block", "[shim]") {
  std::vector<float> to(2 * kCount);
  const auto read = [](float* out) {
    ABLATE_SHARED(float, all, kCount);
    out[blockIdx.x * kCount + threadIdx.x] = all[threadIdx.x];
    __syncthreads();
    all[threadIdx.x] = 1;
  };
  launch(+read, 2, kCount, 0, nullptr, to.data());
  for (const float one : to) CHECK(std::isnan(one));
}

TEST_CASE("a bound that is off by one is noticed", "[shim]") {
  std::vector<float> to(kCount);
  CHECK_FALSE(harms([&] { launch(past_the_end, 1, kCount, 0, nullptr, to.data(), 0); }));
  CHECK(harms([&] { launch(past_the_end, 1, kCount, 0, nullptr, to.data(), 1); }));
  CHECK(harms([&] { launch(past_the_end, 1, kCount, 0, nullptr, to.data(), -1); }));
  const auto global = [](int bound) {
    std::vector<float> exact(kCount - 1);
    launch(past_global, 1, kCount, 0, nullptr, exact.data(), bound);
  };
  CHECK_FALSE(harms([&] { global(kCount - 2); }));
#ifdef __SANITIZE_ADDRESS__
  CHECK(harms([&] { global(kCount - 1); }));
  // Loads of four numbers must be aligned to four numbers (sanitizer of undefined behaviour).
  const auto four = [](float* out, int first) {
    ABLATE_SHARED(float, all, kCount);
    all[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = reinterpret_cast<const float4*>(all + first)->x;
  };
  CHECK_FALSE(harms([&] { launch(+four, 1, kCount, 0, nullptr, to.data(), 4); }));
  CHECK(harms([&] { launch(+four, 1, kCount, 0, nullptr, to.data(), 2); }));
#endif
}

TEST_CASE("undefined behaviour of CUDA is an error", "[shim]") {
  const auto half = [](int which) {
    if (which == 0 && threadIdx.x < 7) __syncthreads();
    if (which == 1 && threadIdx.x < 7) __shfl_sync(~0U, 1, 0);
    if (which == 2) __shfl_sync(threadIdx.x < 7 ? 0x7fU : ~0x7fU, 1, 20);
    if (which == 3) __shfl_sync(0x7fU, 1, 0);
    if (which == 4 && threadIdx.x < 2) __shfl_sync(threadIdx.x == 0 ? 7U : 3U, 1, 0);
    if (which == 5) shim::shared(threadIdx.x + 1);
    if (which == 6) shim::shared(49153);
  };
  const auto of = [&](int which) { return error_of([&] { launch(+half, 1, 32, 0, nullptr, which); }); };
  CHECK(of(0) == "block 0 is stuck: of 32 threads 7 wait at a barrier, 0 at an exchange of lanes, and 25 have ended");
  CHECK(of(1) == "block 0 is stuck: of 32 threads 0 wait at a barrier, 7 at an exchange of lanes, and 25 have ended");
  CHECK(of(2) == "block 0, thread 6: a lane reads from a lane that is not in the mask");
  CHECK(of(3) == "block 0, thread 7: a lane is not in the mask of its own exchange");
  CHECK(of(4) == "block 0, thread 1: lanes of an exchange have different masks or sizes");
  CHECK(of(5) == "block 0, thread 1: threads of a block disagree about their shared arrays");
  CHECK(of(6) == "found 49153 bytes of shared arrays, expected at most 49152");
  CHECK(of(7).empty());
}

namespace {

/// Multiplies 16 x 16 by 16 x 8 numbers in fragments. `wrong` uses the wrong rows of a (1), columns of b (2) or of d (3).
void product(const std::uint16_t* a, const std::uint16_t* b, float* d, int wrong) {
  const unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const auto pair = [](unsigned low, unsigned high) { return high << 16 | low; };
  std::uint32_t as[4], bs[2];
  for (unsigned i = 0; i < 4; ++i) {
    const auto row = (wrong == 1 ? t * 2 : g) + i % 2 * 8, k = 2 * t + i / 2 * 8;
    as[i] = pair(a[row * 16 + k], a[row * 16 + k + 1]);
  }
  for (unsigned i = 0; i < 2; ++i) {
    const auto k = 2 * t + i * 8, column = wrong == 2 ? g ^ 1 : g;
    bs[i] = pair(b[k * 8 + column], b[(k + 1) * 8 + column]);
  }
  float ds[4] = {1, 1, 1, 1};
  shim::mma_m16n8k16(ds, as, bs);
  for (unsigned i = 0; i < 4; ++i) d[(g + i / 2 * 8) * 8 + (wrong == 3 ? (2 * t + i % 2) ^ 1 : 2 * t + i % 2)] = ds[i];
}

}  // namespace

TEST_CASE("mma multiplies by the documented layout of fragments, and other layouts give other numbers", "[shim]") {
  std::vector<std::uint16_t> a(16 * 16), b(16 * 8);
  std::mt19937 random(1);
  const auto bf16 = [](float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); };
  for (auto* all : {&a, &b})
    for (auto& one : *all) one = bf16(static_cast<float>(random() % 17) - 8);  // whole numbers: sums are exact
  for (const int wrong : {0, 1, 2, 3}) {
    std::vector<float> d(16 * 8), expected(16 * 8, 1.F);
    launch(product, 1, 32, 0, nullptr, a.data(), b.data(), d.data(), wrong);
    for (std::size_t i = 0; i < 16 * 8; ++i)
      for (std::size_t k = 0; k < 16; ++k)
        expected[i] += shim::bf16_of(a[i / 8 * 16 + k], 0) * shim::bf16_of(b[k * 8 + i % 8], 0);
    CHECK((d == expected) == (wrong == 0));
  }
}
