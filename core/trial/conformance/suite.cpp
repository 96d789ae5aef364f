#include "core/trial/conformance/suite.h"

#include <stdexcept>

#include "core/registry/values.h"
#include "core/trial/conformance/attention_checks.h"
#include "core/trial/conformance/compression_checks.h"
#include "core/trial/conformance/cost.h"
#include "core/trial/conformance/task_checks.h"
#include "core/trial/conformance/training_check.h"

namespace ablate {

namespace {

constexpr std::int64_t kExamples = 2000;    // of a split, that are looked at one by one
constexpr std::int64_t kFewExamples = 200;  // between two edits
constexpr const char* kSeed = "data_seed";

void check_task(const Candidate& candidate, const std::filesystem::path& scratch, bool quick, Checks& checks) {
  const auto& plugin = candidate.descriptor();
  const auto& section = candidate.section;
  // At its defaults a task with a seed draws; others may name data that no seed changes.
  const auto seed = !section.contains(kSeed)                                                        ? SeedPromise::kNone
                    : section == complete_section(plugin, nlohmann::json::object(), candidate.find) ? SeedPromise::kOther
                                                                                                    : SeedPromise::kMaybeOther;
  int made = 0;
  const auto make = [&](int threads, bool other_seed) {
    auto parameters = section;
    if (other_seed) parameters[kSeed] = parameters.at(kSeed).get<std::int64_t>() + 1;
    // A cache of its own for each, or the second would only read what the first has made.
    const auto cache = scratch / std::to_string(++made);
    std::filesystem::create_directories(cache);
    const JsonValues values(parameters);
    return plugin.make_task({values, cache, threads});
  };
  check_task(make, seed, quick ? kFewExamples : kExamples, checks);
}

}  // namespace

void check_plugin(const Examinee& examinee, Checks& checks) {
  std::vector<Candidate> all;
  try {
    all = candidates(examinee.plugin, examinee.parameters, examinee.parts);
  } catch (const std::exception& error) {
    checks.run("parts", examinee.plugin.id, kExact, [&](Finding&) { throw std::runtime_error(error.what()); });
    return;
  }
  if (examinee.quick) all.resize(1);
  for (const auto& candidate : all) {
    const auto depth = &candidate == &all.front() && !examinee.quick ? Depth::kFull : Depth::kSmall;
    switch (candidate.kind) {
      case Kind::kAttention:
        check_attention(candidate, depth, checks);
        check_training(candidate, checks);
        break;
      case Kind::kCompression:
        check_compression(candidate, depth, checks);
        break;
      case Kind::kTask:
        return check_task(candidate, examinee.scratch, examinee.quick, checks);
    }
  }
  if (!examinee.quick) check_cost(all.front(), examinee.timed, checks);
}

}  // namespace ablate
