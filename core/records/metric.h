// The meaning of a metric's number, defined once for measuring, messages, storage and tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

enum class MetricKind {
  kScore,  ///< quality of the trial's answers
  kCost,   ///< a time, an amount of memory, or the spread of times
  kCount,  ///< neither good nor bad by itself: a step, a number of parameters, an attention's own statistic
};

/// Source of the number: the task (its objective or its own judge), the method (an attention), or the host.
enum class MetricOwner { kTask, kMethod, kHost };

/// Description of a metric, stored once per name.
struct MetricInfo {
  std::string name;         ///< domain/name: "dev/accuracy"; for a group of the examples "test/accuracy@pairs=8"
  std::string unit;         ///< "%", "ms", "MiB", "examples/s", "" for a plain number
  std::string direction;    ///< the better direction: "max", "min", or "" for neither
  std::string description;  ///< one line
  MetricKind kind = MetricKind::kScore;
  MetricOwner owner = MetricOwner::kTask;
  bool of_steps = false;  ///< computed from the times of a trial's steps: train/step_spread shows how reliable it is

  bool is_cost() const { return kind == MetricKind::kCost; }
  /// True if the host measured the metric on the machine. The value differs in each run, unlike a task's own metric in seconds.
  bool is_measured() const { return is_cost() && owner == MetricOwner::kHost; }

  bool operator==(const MetricInfo&) const = default;
};

/// Words used in messages between processes and in the history. Reading other JSON throws nlohmann::json::exception.
NLOHMANN_JSON_SERIALIZE_ENUM(MetricKind,
                             {{MetricKind::kScore, "score"}, {MetricKind::kCost, "cost"}, {MetricKind::kCount, "count"}})
NLOHMANN_JSON_SERIALIZE_ENUM(MetricOwner,
                             {{MetricOwner::kTask, "task"}, {MetricOwner::kMethod, "method"}, {MetricOwner::kHost, "host"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MetricInfo, name, unit, direction, description, kind, owner, of_steps)

}  // namespace ablate
