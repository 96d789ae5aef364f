// What a metric's number means: one definition for those who measure it, tell it, store it and show it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

enum class MetricKind {
  kScore,  ///< how well the trial answers
  kCost,   ///< a time, a memory, or how far times spread
  kCount,  ///< neither good nor costly by itself: a step, how many parameters, what an attention says of itself
};

/// Whose number it is: the task's (by its objective or its own judge), the method's (by an attention), or the host's.
enum class MetricOwner { kTask, kMethod, kHost };

/// Stored once, by name.
struct MetricInfo {
  std::string name;         ///< domain/name: "dev/accuracy"; over a group of the examples "test/accuracy@pairs=8"
  std::string unit;         ///< "%", "ms", "MiB", "examples/s", "" for a plain number
  std::string direction;    ///< "max", "min" or "": which way is better
  std::string description;  ///< one line
  MetricKind kind = MetricKind::kScore;
  MetricOwner owner = MetricOwner::kTask;
  bool of_steps = false;  ///< made of the times of a trial's steps: train/step_spread tells how far to trust it

  bool is_cost() const { return kind == MetricKind::kCost; }
  /// Whether the host took it from the machine: never the same twice, unlike a task's own metric in seconds.
  bool is_measured() const { return is_cost() && owner == MetricOwner::kHost; }

  bool operator==(const MetricInfo&) const = default;
};

/// As processes tell each other, and the words of the history. From JSON: throws nlohmann::json::exception.
NLOHMANN_JSON_SERIALIZE_ENUM(MetricKind,
                             {{MetricKind::kScore, "score"}, {MetricKind::kCost, "cost"}, {MetricKind::kCount, "count"}})
NLOHMANN_JSON_SERIALIZE_ENUM(MetricOwner,
                             {{MetricOwner::kTask, "task"}, {MetricOwner::kMethod, "method"}, {MetricOwner::kHost, "host"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MetricInfo, name, unit, direction, description, kind, owner, of_steps)

}  // namespace ablate
