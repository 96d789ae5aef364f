// A job of the checker: runs very simple predictors, each a few lines of code, on a task's test examples.
#pragma once

#include <limits>

#include "core/records/example_rows.h"
#include "core/shared/message_json.h"
#include "core/shared/task_info.h"

namespace ablate {

struct FloorsJob {
  static constexpr const char* kName = "floors";
  using Answer = struct FoundFloors;
  Libraries libraries;
  PluginSpec section;  ///< with all parameters
  std::string digest;  ///< digest of the task's data; other data are refused
  ExampleRows rows;
  double seconds = 0;  ///< limit of processor time
  bool operator==(const FloorsJob&) const = default;
};
struct FoundFloors {
  static constexpr const char* kName = "answer of floors";
  struct Floor {
    std::string name;          ///< predictor: "counts"
    std::string how;           ///< setting selected on dev: "order 3"; or a text of floor_texts.h; else ""
    double value = 0;          ///< value of the metric
    std::int64_t trained = 0;  ///< examples of the training split that the predictor used; positions if the task is a stream
    std::string others;        ///< results of the settings that dev did not select: "order 1: 5.083, order 2: 3.916"
    bool operator==(const Floor&) const = default;
  };
  std::string metric, unit;           ///< metric that judges the task's trials: "test/accuracy", "%"
  std::int64_t examples = 0;          ///< number of test examples used; positions if the task is a stream
  std::int64_t train_size = 0;        ///< examples of the training split; positions if the task is a stream
  std::int64_t seen = 0;              ///< training examples that trials with these `rows` use; no predictor uses more
  bool is_stream = false;             ///< true if positions are counted instead of examples
  std::vector<Floor> floors;          ///< in the order of the list of predictors
  std::vector<std::string> left_out;  ///< predictors that did not run because the time was over
  bool operator==(const FoundFloors&) const = default;
};

void fields(auto& f, Is<ExampleRows> auto& m) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();  // 10^9 steps of 65,536 batches of 65,536 rows
  f("test", m.test, 0, kMost);
  f("train", m.train, 0, kMost);
  f("lanes", m.lanes, 0, kMost);
}

void fields(auto& f, Is<FloorsJob> auto& m) {
  fields(f, m.libraries);
  f("section", m.section);
  f("digest", m.digest);
  f("rows", m.rows);
  f("seconds", m.seconds);
}

void fields(auto& f, Is<FoundFloors::Floor> auto& m) {
  f("name", m.name);
  f("how", m.how);
  f("value", m.value);
  f("trained", m.trained, 0, kMostOfATask);
  f("others", m.others);
}

void fields(auto& f, Is<FoundFloors> auto& m) {
  f("metric", m.metric);
  f("unit", m.unit);
  f("examples", m.examples, 0, kMostOfATask);
  f("train_size", m.train_size, 0, kMostOfATask);
  f("seen", m.seen, 0, kMostOfATask);
  f("stream", m.is_stream);
  f("floors", m.floors);
  f("left_out", m.left_out);
}

}  // namespace ablate
