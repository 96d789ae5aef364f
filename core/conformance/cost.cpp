#include "core/conformance/cost.h"

#include <fmt/format.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "core/conformance/attention_subject.h"
#include "core/runtime/tensor_memory.h"

namespace ablate {

namespace {

constexpr std::int64_t kLengths[] = {1024, 2048, 4096};
constexpr double kMemoryTolerance = 0.2;
constexpr double kTimeTolerance = 0.35;  // caches: data that fit at one length and not at twice it
constexpr int kLeastPasses = 3;
constexpr double kLeastSeconds = 0.1;  // of passes at each length

/// Makes an instance for a length and returns one pass of it, ready to be run again and again.
using Prepare = std::function<std::function<void()>(std::int64_t length)>;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// n^slope through the first and the last of the lengths (a least-squares line through three equidistant points has it, too).
double slope(const std::vector<double>& costs) {
  return std::log2(costs.back() / costs.front()) / static_cast<double>(costs.size() - 1);
}

double memory(const Prepare& prepare, std::int64_t length) {
  const auto before = tensor_bytes();
  reset_peak_tensor_bytes();
  prepare(length)();
  const auto peak = peak_tensor_bytes() - before;
  if (peak <= 0) throw std::logic_error("tensor memory is not counted in this process (count_tensor_memory)");
  return static_cast<double>(peak);
}

double time(const Prepare& prepare, std::int64_t length) {
  // Memory that is given back to the system comes back page by page, zeroed: large tensors would pay for it and small ones not.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  const auto pass = prepare(length);
  pass();
  double least = std::numeric_limits<double>::infinity(), sum = 0;
  for (int i = 0; i < kLeastPasses || sum < kLeastSeconds; ++i) {
    const double start = cpu_seconds();
    pass();
    const double taken = cpu_seconds() - start;
    least = std::min(least, taken);
    sum += taken;
  }
  return least;
}

void check(const std::string& name, const std::string& on, double declared, double tolerance, Checks& checks,
           const std::function<double(std::int64_t)>& cost) {
  checks.run(name, on, tolerance, [&](std::string& where) {
    std::vector<double> costs;
    for (const auto length : kLengths) costs.push_back(cost(length));
    double found = slope(costs);
    if (found - declared > tolerance) {
      // What fits into a cache at first and not at last looks steeper than it is; beyond that, one more doubling tells.
      costs.push_back(cost(2 * kLengths[std::size(kLengths) - 1]));
      found = std::log2(costs.back() / costs[costs.size() - 2]);
    }
    where = fmt::format("grows as n^{:.2f}, declared n^{:g}{}", found, declared,
                        costs.size() > std::size(kLengths) ? ", from 4096 to 8192" : "");
    return std::max(0.0, found - declared);
  });
}

Prepare attention_pass(const Chosen& plugin, const Chosen& compression) {
  return [=](std::int64_t length) -> std::function<void()> {
    const AttentionSubject subject(plugin, compression);
    const auto n = subject.length(length);
    const auto attention = subject.make(1, false, torch::kFloat32, n);
    attention->train();
    return [=] { gradients(*attention, {random_tokens(1, n, 2, torch::kFloat32)}); };
  };
}

Prepare compression_pass(const Chosen& plugin) {
  return [=](std::int64_t length) -> std::function<void()> {
    constexpr std::int64_t heads = 2, channels = 8;
    const auto multiple = std::max<std::int64_t>(plugin.descriptor->capabilities.length_multiple, 1);
    const auto n = (length + multiple - 1) / multiple * multiple;
    const auto compression = make_compression(plugin, {1, 4}, heads, channels, n, make_generator(1));
    compression->train();
    return [=] {
      const auto generator = make_generator(2);
      const auto random = [&] { return torch::randn({1, heads, n, channels}, generator, torch::kFloat32).requires_grad_(); };
      const auto queries = random(), keys = random(), values = random();
      compression->read(queries, compression->write(keys, values, {}), Similarity::kElu).sum().backward();
    };
  };
}

}  // namespace

void check_cost(const Chosen& plugin, const Chosen& compression, bool timed, Checks& checks) {
  auto bound = plugin.descriptor->capabilities;
  const bool is_attention = plugin.descriptor->kind == Kind::kAttention;
  std::string on = plugin.descriptor->id;
  if (is_attention && bound.takes_compression) {
    on += std::string(" x ") + compression.descriptor->id;
    bound.time_exponent = std::max(bound.time_exponent, compression.descriptor->capabilities.time_exponent);
    bound.memory_exponent = std::max(bound.memory_exponent, compression.descriptor->capabilities.memory_exponent);
  }
  on += is_attention ? ", [1, n, 16], n 1024 to 4096" : ", [1, 2, n, 8], rate 1/4, n 1024 to 4096";
  const auto prepare = is_attention ? attention_pass(plugin, compression) : compression_pass(plugin);
  check("memory", on, bound.memory_exponent, kMemoryTolerance, checks, [&](std::int64_t n) { return memory(prepare, n); });
  if (timed) check("time", on, bound.time_exponent, kTimeTolerance, checks, [&](std::int64_t n) { return time(prepare, n); });
}

}  // namespace ablate
