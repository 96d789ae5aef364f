#include "core/trial/conformance/suite.h"

#include "core/registry/values.h"
#include "core/trial/conformance/attention_checks.h"
#include "core/trial/conformance/compression_checks.h"
#include "core/trial/conformance/cost.h"
#include "core/trial/conformance/task_checks.h"

namespace ablate {

namespace {

constexpr std::int64_t kExamples = 2000;  // of a split, that are looked at one by one
constexpr const char* kSeed = "data_seed";

void check_attention(const Examinee& examinee, Checks& checks) {
  const auto& plugin = examinee.plugin;
  if (!plugin.descriptor->capabilities.takes_compression) {
    check_attention(plugin, {}, checks);
    check_cost(plugin, {}, examinee.timed, checks);
    return;
  }
  for (const auto& compression : examinee.compressions) check_attention(plugin, compression, checks);
  if (!examinee.compressions.empty()) check_cost(plugin, examinee.compressions.front(), examinee.timed, checks);
}

void check_task(const Examinee& examinee, Checks& checks) {
  const auto& plugin = examinee.plugin;
  // At its defaults a task with a seed draws; others may name data that no seed changes.
  const auto seed = !plugin.parameters.contains(kSeed)                                  ? SeedPromise::kNone
                    : plugin.parameters == with_defaults(*plugin.descriptor).parameters ? SeedPromise::kOther
                                                                                        : SeedPromise::kMaybeOther;
  int made = 0;
  const auto make = [&](int threads, bool other_seed) {
    auto parameters = plugin.parameters;
    if (other_seed) parameters[kSeed] = parameters.at(kSeed).get<std::int64_t>() + 1;
    // A cache of its own for each, or the second would only read what the first has made.
    const auto cache = examinee.scratch / std::to_string(++made);
    std::filesystem::create_directories(cache);
    const JsonValues values(parameters);
    return plugin.descriptor->make_task({values, cache, threads});
  };
  check_task(make, seed, kExamples, checks);
}

}  // namespace

void check_plugin(const Examinee& examinee, Checks& checks) {
  switch (examinee.plugin.descriptor->kind) {
    case Kind::kAttention:
      return check_attention(examinee, checks);
    case Kind::kCompression:
      check_compression(examinee.plugin, checks);
      return check_cost(examinee.plugin, {}, examinee.timed, checks);
    case Kind::kTask:
      return check_task(examinee, checks);
  }
}

}  // namespace ablate
