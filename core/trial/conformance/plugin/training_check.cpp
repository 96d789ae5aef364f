// Checks that a training with a plugin can stop and resume.
#include <stdexcept>

#include "core/shared/sections.h"
#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/training/training.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr std::int64_t kIds = 7, kClassCount = 3, kPlaces = 1000, kBatch = 2;
constexpr int kBefore = 3, kAfter = 3;

/// Data of a training: examples with a class, a stream in lanes, or examples in two segments with a target at every position.
enum class Feed { kClasses, kStream, kSegments };

/// Task whose ids follow from their position. A class is the sum of the ids modulo kClassCount, and a target is the next id.
class Counted final : public Task {
 public:
  Counted(std::int64_t length, Feed feed) : length_(length), feed_(feed) {}
  TaskInfo info() override {
    TaskInfo info{.fields = {{"symbol", kIds}}, .length = length_, .classes = kIds};
    if (feed_ == Feed::kClasses) {
      info.classes = kClassCount;
      return info;
    }
    info.objective = Objective::kPositions;
    info.causal = true;
    if (feed_ == Feed::kStream) info.sampling = Sampling::kStream;
    return info;
  }
  void load() override {}
  std::string digest() const override { return "counted"; }
  std::int64_t size(Split) const override { return kPlaces; }
  std::string describe(Split, std::int64_t index) const override { return std::to_string(index); }
  void read(Split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::int64_t sum = 0;
      for (std::int64_t j = 0; j < length_; ++j) {
        const auto at = i * static_cast<std::size_t>(length_) + static_cast<std::size_t>(j);
        batch.present[0][at] = indices[i] + j < kPlaces ? 1 : 0;
        if (batch.present[0][at] == 0) continue;
        batch.ids[0][at] = id(indices[i] + j);
        sum += batch.ids[0][at];
        if (feed_ != Feed::kClasses) batch.targets[at] = id(indices[i] + j + 1);
      }
      if (feed_ == Feed::kClasses) batch.targets[i] = sum % kClassCount;
    }
  }

 private:
  static std::int64_t id(std::int64_t place) { return place * place / 3 % kIds; }

  std::int64_t length_;
  Feed feed_;
};

json defaults(std::span<const ParameterInfo> parameters, const json& changes) {
  auto section = json::object();
  for (const auto& parameter : parameters) section[parameter.name] = parameter.default_value;
  section.update(changes);
  return section;
}

void go_on(const Candidate& candidate, Feed feed, Finding& finding) {
  const auto segment = feed == Feed::kSegments ? candidate.length(7) : 0;
  Counted task(segment > 0 ? 2 * segment : candidate.length(13), feed);
  const json model{{"d_model", 16}, {"hidden", 16}, {"layers", 1}, {"segment", segment}},
      train{{"steps", kBefore + kAfter}, {"batch", kBatch}, {"learning_rate", 0.01}};
  const TrialParts parts{.trial = {.model = model_from_json(defaults(model_parameters(), model)),
                                   .attention = plugins_from_json(candidate.section),
                                   .train = train_from_json(defaults(train_parameters(), train)),
                                   .seed = 1},
                         .task = task,
                         .find = candidate.find};
  Training one(parts, candidate.device);
  for (int step = 0; step < kBefore; ++step) one.step();
  const auto saved = one.save();
  std::vector<std::optional<double>> losses;
  for (int step = 0; step < kAfter; ++step) losses.push_back(one.step());
  Training other(parts, candidate.device);
  other.load(saved);
  for (int step = 0; step < kAfter; ++step)
    if (other.step() != losses[static_cast<std::size_t>(step)])
      throw std::runtime_error("another loss in step " + std::to_string(step + 1) + " after it was loaded");
  for (std::size_t i = 0; const auto& parameter : one.model().parameters())
    finding.near(other.model().parameters()[i++].tensor, parameter.tensor, parameter.name + " after the steps that followed");
}

}  // namespace

void check_training(const Candidate& candidate, Checks& checks) {
  if (!candidate.promises.deterministic) return;
  const auto run = [&](Feed feed, const char* what) {
    checks.run("training", candidate.name() + what, kExact, [&](Finding& finding) { go_on(candidate, feed, finding); });
  };
  if (candidate.promises.bidirectional) run(Feed::kClasses, ", a class of sequences");
  if (!candidate.promises.causal) return;
  run(Feed::kStream, ", a stream in lanes");
  if (candidate.promises.stateful) run(Feed::kSegments, ", examples in segments");
}

}  // namespace ablate
