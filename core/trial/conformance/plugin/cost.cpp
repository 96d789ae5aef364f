#include "core/trial/conformance/plugin/cost.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "core/trial/conformance/attention/subject.h"
#include "core/trial/conformance/engine/finding.h"
#include "core/trial/device/device.h"
#include "core/trial/device/tensor_memory.h"

namespace ablate {

namespace {

constexpr std::int64_t kLengths[] = {1024, 2048, 4096, 8192};  // 8192 only if the growth to 4096 looks too steep
constexpr Allowed kMemoryTolerance{0.2, "bytes are exact, but a linear term beside a quadratic term changes the exponent"};
constexpr Allowed kTimeTolerance{
    0.3, "a cost of n^1.5 must fail a declared n; caches and a busy machine change the exponent by less"};
constexpr int kMoreAttempts = 3;  // other work makes one measurement steeper or flatter, but steep code is always steep
constexpr int kLeastRounds = 5, kMostRounds = 200;
constexpr double kLeastSeconds = 0.5;  // sum of all rounds

/// Makes an instance for a length. Returns a function that runs one pass of the instance and can be called repeatedly.
using Prepare = std::function<std::function<void()>(std::int64_t length)>;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double memory(const Prepare& prepare, c10::Device device, std::int64_t length) {
  reset_peak_memory(device);
  const auto before = peak_memory(device);
  prepare(length)();
  const auto peak = peak_memory(device) - before;
  if (peak <= 0) throw std::logic_error("tensor memory is not counted in this process (count_tensor_memory)");
  return static_cast<double>(peak);
}

/// Returns the least time of a pass at each length. The lengths alternate, so that a temporary disturbance affects all of them.
std::vector<double> times(const Prepare& prepare, std::span<const std::int64_t> lengths) {
  keep_freed_memory();
  std::vector<std::function<void()>> passes;
  for (const auto length : lengths) {
    passes.push_back(prepare(length));
    passes.back()();
  }
  std::vector<double> least(lengths.size(), std::numeric_limits<double>::infinity());
  double sum = 0;
  for (int round = 0; round < kLeastRounds || (sum < kLeastSeconds && round < kMostRounds); ++round)
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const double start = cpu_seconds();
      passes[i]();
      const double taken = cpu_seconds() - start;
      least[i] = std::min(least[i], taken);
      sum += taken;
    }
  return least;
}

void check(const std::string& name, const std::string& on, double declared, const Allowed& tolerance, Checks& checks,
           const MeasureCosts& costs) {
  checks.run(name, on, tolerance, [&](Finding& finding) {
    const auto [found, lengths] = growth(costs, declared + tolerance.error);
    const auto text =
        fmt::format("grows as n^{:.2f} from {} to {}, declared n^{:g}", found, kLengths[0], kLengths[lengths - 1], declared);
    finding.off_by(std::max(0.0, found - declared), text);
    if (finding.passed() && found <= declared) finding.say(text);
  });
}

Prepare attention_pass(const Candidate& candidate) {
  return [=](std::int64_t length) -> std::function<void()> {
    const AttentionSubject subject(candidate);
    const auto n = subject.length(length);
    const auto instance = subject.make(1, subject.home(), kFloat, n);
    instance->train();
    return [=] { gradients(*instance, {random_tokens(1, n, 2, kFloat)}); };
  };
}

Prepare compression_pass(const Candidate& candidate) {
  return [=](std::int64_t length) -> std::function<void()> {
    constexpr std::int64_t heads = 2, channels = 8;
    const auto n = candidate.length(length);
    const auto compression =
        make_compression(plugin_from_json(candidate.section), {{1, 4}}, heads, channels, n, candidate.find, make_generator(1));
    move_to(*compression, candidate.device, kFloat);
    compression->train();
    return [=] {
      const auto generator = make_generator(2);
      const auto random = [&] {
        return randn({1, heads, n, channels}, generator, kFloat).to(candidate.device).requires_grad_();
      };
      WriteInput input;
      input.keys = random();
      input.values = random();
      input.queries = random();
      input.generator = generator_on(candidate.device, 3);
      const auto memory = compression->write(input);
      const auto read = compression->read({.queries = input.queries, .memory = memory, .similarity = Similarity::kElu});
      auto inputs = parameters_of(*compression);
      inputs.insert(inputs.end(), {input.queries, input.keys, input.values});
      gradients_of(read.values.sum(), inputs);
    };
  };
}

}  // namespace

double exponent(std::span<const double> costs) {
  const double middle = (static_cast<double>(costs.size()) - 1) / 2;
  double up = 0, squares = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const double away = static_cast<double>(i) - middle;
    up += away * std::log2(costs[i]);
    squares += away * away;
  }
  return up / squares;
}

Growth growth(const MeasureCosts& costs, double most) {
  const std::span all(kLengths);
  Growth least{std::numeric_limits<double>::infinity(), all.size() - 1};
  for (int pass = 0; pass <= kMoreAttempts && !(least.exponent <= most); ++pass) {
    const auto lengths = all.first(pass == 0 ? all.size() - 1 : all.size());
    if (const double found = exponent(costs(lengths)); found <= least.exponent) least = {found, lengths.size()};
  }
  return least;
}

void check_cost(const Candidate& candidate, bool timed, Checks& checks) {
  const bool is_attention = candidate.kind == Kind::kAttention;
  const auto on = candidate.name() + (is_attention ? ", [1, n, 16], n from 1024" : ", [1, 2, n, 8], rate 1/4, n from 1024");
  const auto prepare = is_attention ? attention_pass(candidate) : compression_pass(candidate);
  if (timed)
    return check("time", on, candidate.promises.time_exponent, kTimeTolerance, checks,
                 [&](std::span<const std::int64_t> lengths) { return times(prepare, lengths); });
  check("memory", on, candidate.promises.memory_exponent, kMemoryTolerance, checks, [&](std::span<const std::int64_t> lengths) {
    std::vector<double> all;
    for (const auto length : lengths) all.push_back(memory(prepare, candidate.device, length));
    return all;
  });
}

}  // namespace ablate
