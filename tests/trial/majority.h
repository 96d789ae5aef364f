// A task that trains in seconds, and trials on it in this process.
#pragma once

#include <random>

#include "core/registry/library.h"
#include "core/shared/sections.h"
#include "core/trial/training/trial.h"
#include "tests/support/catch.h"

namespace ablate::tests {

/// The class is the more frequent of two symbols. Examples have 5 to 11 tokens, and are padded to 12.
class Majority : public Task {
 public:
  explicit Majority(std::int64_t bad_id = 0) : bad_id_(bad_id) {}
  TaskInfo info() override { return {.fields = {{"token", 3}}, .length = 12, .classes = 2}; }
  void load() override {}
  std::string digest() const override { return "majority"; }
  std::int64_t size(Split split) const override { return split == Split::kTrain ? 400 : 100; }
  std::string describe(Split, std::int64_t) const override { return ""; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::mt19937_64 random(static_cast<std::uint64_t>(indices[i] * 3 + static_cast<int>(split)));
      const auto length = 5 + 2 * (random() % 4);
      std::size_t ones = 0;
      for (std::size_t j = 0; j < 12; ++j) {
        const auto one = random() % 2;
        batch.ids[0][i * 12 + j] = j < length ? static_cast<std::int64_t>(1 + one) : 0;
        batch.present[0][i * 12 + j] = j < length ? 1 : 0;
        if (j < length) ones += one;
      }
      if (bad_id_ != 0) batch.ids[0][i * 12] = bad_id_;
      batch.targets[i] = ones > length / 2 ? 1 : 0;
    }
  }

 private:
  std::int64_t bad_id_;
};

inline nlohmann::json section(std::span<const ParameterInfo> parameters, const nlohmann::json& changes) {
  nlohmann::json result = nlohmann::json::object();
  for (const auto& parameter : parameters) result[parameter.name] = parameter.default_value;
  result.update(changes);
  return result;
}

/// Returns a plugin of the build tree.
inline const Descriptor& find_plugin(Kind, const std::string& id) {
  return load_library(std::string(ABLATE_BUILD_DIR "/lib/ablate/plugins/") + id + ".so");
}

/// Returns the attention's complete section.
inline nlohmann::json plugin(const std::string& id, const nlohmann::json& parameters = nlohmann::json::object()) {
  return complete_section(find_plugin(Kind::kAttention, id), parameters, find_plugin);
}

/// A trial with all its reports, in order.
struct RanTrial {
  TrialResult result;
  std::vector<Progress> reports;
  std::string failed;  ///< reason of the failure; "" if none

  std::vector<CurvePart> parts() const {
    std::vector<CurvePart> all;
    for (const auto& report : reports) all.push_back(report.curve);
    all.push_back(result.curve);
    return all;
  }
  std::vector<CurvePoint> points() const {
    std::vector<CurvePoint> all;
    for (const auto& part : parts()) all.insert(all.end(), part.points.begin(), part.points.end());
    return all;
  }
  /// Returns definitions by name. Checks that a curve's definition is sent once, and not after the curve's first point.
  std::map<std::string, MetricInfo> metrics() const {
    std::map<std::string, MetricInfo> all;
    for (const auto& part : parts()) {
      for (const auto& metric : part.metrics) CHECK(all.emplace(metric.name, metric).second);
      for (const auto& point : part.points) CHECK(all.contains(point.metric));
    }
    for (const auto& metric : result.metrics) CHECK(all.emplace(metric.name, metric).first->second == metric);
    return all;
  }
};

inline nlohmann::json resolved_trial(const nlohmann::json& train, const nlohmann::json& attention, std::uint64_t seed = 1) {
  nlohmann::json resolved{
      {"model", section(model_parameters(), {{"d_model", 16}, {"hidden", 16}, {"dropout", 0.1}})},
      {"train", section(train_parameters(), {{"steps", 60}, {"batch", 20}, {"learning_rate", 0.01}, {"warmup", 5}})},
      {"attention", attention},
      {"seed", seed}};
  resolved["train"].update(train);
  return resolved;
}

inline RanTrial run(const nlohmann::json& train, const nlohmann::json& attention, std::uint64_t seed = 1,
                    Task&& task = Majority(), const FindPlugin& find = find_plugin) {
  const auto resolved = resolved_trial(train, attention, seed);
  RanTrial ran;
  try {
    ran.result = run_trial({trial_from_json(resolved), task, find}, [&](const Progress& now) { ran.reports.push_back(now); });
  } catch (const std::exception& error) {
    ran.failed = error.what();
  }
  return ran;
}

inline RanTrial run(const nlohmann::json& train, std::uint64_t seed = 1, const char* attention = "linear") {
  auto ran = run(train, plugin(attention), seed);
  REQUIRE(ran.failed == "");
  return ran;
}

}  // namespace ablate::tests
