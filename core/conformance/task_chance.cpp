// What an untrained model scores on a task.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "core/conformance/task_checks.h"
#include "core/runtime/batches.h"
#include "core/runtime/encoder.h"
#include "core/runtime/instances.h"

namespace ablate {

namespace {

constexpr std::int64_t kSeeds = 32, kMostExamples = 500, kMostTokens = 1 << 18;
constexpr double kStandardErrors = 4;

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
  const auto examples =
      std::min({task.size(Split::kDev), kMostExamples, kMostTokens / std::max<std::int64_t>(info.length, 1) + 1});
  checks.run("chance", fmt::format("dev, {} examples, {} untrained models", examples, kSeeds), kStandardErrors,
             [&](std::string& where) {
               std::vector<std::int64_t> indices(static_cast<std::size_t>(std::max<std::int64_t>(examples, 0)));
               std::iota(indices.begin(), indices.end(), 0);
               const auto batch = BatchReader(task, info, c10::Device(c10::kCPU)).read(Split::kDev, indices);
               double sum = 0, squares = 0;
               for (std::int64_t seed = 1; seed <= kSeeds; ++seed) {
                 const double found = accuracy(info, batch, static_cast<std::uint64_t>(seed));
                 sum += found;
                 squares += found * found;
               }
               // A model without training often gives one answer to all, so it is the models that are drawn, not the examples.
               const double mean = sum / kSeeds, chance = 1.0 / static_cast<double>(info.classes);
               const double variance =
                   std::max(squares / kSeeds - mean * mean, chance * (1 - chance) / static_cast<double>(examples));
               where = fmt::format("standard errors; accuracy {:.3f}, chance is {:.3f}", mean, chance);
               return std::abs(mean - chance) / std::sqrt(variance / kSeeds);
             });
}

}  // namespace ablate
