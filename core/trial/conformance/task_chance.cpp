// What an untrained model scores on a task, and what one answer to everything does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/trial/conformance/task_checks.h"
#include "core/trial/model/encoder.h"
#include "core/trial/model/instances.h"
#include "core/trial/training/batches.h"

namespace ablate {

namespace {

constexpr std::int64_t kSeeds = 32, kMostExamples = 500, kMostTokens = 1 << 18;
constexpr double kMostKnown = 0.2, kStandardErrors = 4;

/// Token and position embeddings, mean, classifier: no attention, so that no plugin but the task takes part.
double accuracy(const TaskInfo& info, const Batch& batch, std::uint64_t seed) {
  const auto generator = make_generator(seed);
  Encoder model({info.vocabulary, info.length, info.classes, 0, 16, 16, 0.0, false}, {}, generator);
  model.eval();
  torch::NoGradGuard no_grad;
  return model.forward(batch.ids, batch.mask, generator, false)
      .logits.argmax(-1)
      .eq(batch.labels)
      .to(torch::kFloat64)
      .mean()
      .item<double>();
}

}  // namespace

void check_chance(Task& task, Checks& checks) {
  const auto info = task.info();
  for (const auto& [split, name] : {std::pair{Split::kDev, "dev"}, {Split::kTest, "test"}}) {
    const auto examples = std::min({task.size(split), kMostExamples, kMostTokens / std::max<std::int64_t>(info.length, 1) + 1});
    checks.run("chance", fmt::format("{}, {} examples, {} untrained models", name, examples, kSeeds), kMostKnown,
               [&, split = split](std::string& where) {
                 std::vector<std::int64_t> indices(static_cast<std::size_t>(std::max<std::int64_t>(examples, 0)));
                 std::iota(indices.begin(), indices.end(), 0);
                 const auto batch = BatchReader(task, info, c10::Device(c10::kCPU)).read(split, indices);
                 const auto constant = batch.labels.bincount().max().item<double>() / static_cast<double>(examples);
                 double sum = 0, best = 0;
                 for (std::int64_t seed = 1; seed <= kSeeds; ++seed) {
                   const double found = accuracy(info, batch, static_cast<std::uint64_t>(seed));
                   sum += found;
                   best = std::max(best, found);
                 }
                 // The mean over models is 1 / classes whatever the labels, because no class is drawn before another. It is
                 // the best of them that tells.
                 const double chance = 1.0 / static_cast<double>(info.classes);
                 const double noise = kStandardErrors * std::sqrt(chance * (1 - chance) / static_cast<double>(examples));
                 where = fmt::format("accuracy {:.3f} on average, {:.3f} at best, {:.3f} for one answer, chance is {:.3f}",
                                     sum / kSeeds, best, constant, chance);
                 return std::max(0.0, (std::max(best, constant) - chance - noise) / (1 - chance));
               });
  }
}

}  // namespace ablate
