// Settings that decide a trial's training data and test examples. The history uses this file, because the history stores
// documents of trials and has no TrialSpec (core/shared/trial_spec.h). core/util/flatten.h explains the form of paths.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/records/example_rows.h"
#include "core/records/setting_paths.h"
#include "core/util/flatten.h"

namespace ablate {

/// True if trials with different values of this setting have different test examples.
/// @param in_batches true if train.test_batches limits a test, so that the batch size also decides the test examples
inline bool decides_test_examples(const std::string& path, bool in_batches) {
  if (path == setting::kBatch) return in_batches;
  return is_of_task(path) || path == setting::kTestBatches || path == setting::kStride || path == setting::kSegment;
}

/// True if trials with different values of this setting may have a different task or different ExampleRows.
inline bool decides_rows(const std::string& path) {
  return is_of_task(path) || path == setting::kTestBatches || path == setting::kBatch || path == setting::kSteps ||
         path == setting::kAccumulate;
}

/// Returns the plugin of a section, or "" if the section names none.
inline std::string plugin_id_of(const nlohmann::json& section) {
  const auto found = section.find(section::kPlugin);
  return found != section.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns a plugin's section that has only the plugin's name.
inline nlohmann::json plugin_section(const nlohmann::json& id) { return {{section::kPlugin, id}}; }

/// Returns the settings of a task's section, by path.
inline std::map<std::string, nlohmann::json> task_settings(const nlohmann::json& task) {
  return flatten({{section::kTask, task}});
}

/// Computes the row counts. `Train` must have the numbers of [train] as members with the same names.
template <class Train>
ExampleRows example_rows(const Train& train) {
  return {train.test_batches * train.batch, train.steps * train.accumulate * train.batch, train.batch};
}

struct DataSettings {
  nlohmann::json task;  ///< section of the task
  ExampleRows rows;
};

/// Reads the data settings of a trial's document. Returns nullopt if the document has no task. Old documents may lack numbers.
inline std::optional<DataSettings> data_settings(const nlohmann::json& document) {
  if (!document.is_object() || !document.contains(section::kTask) || !document.at(section::kTask).is_object())
    return std::nullopt;
  const auto train = document.value(section::kTrain, nlohmann::json());
  const auto number = [&](const char* name, std::int64_t otherwise) {
    const auto found = train.find(name);
    return found != train.end() && found->is_number() ? found->get<std::int64_t>() : otherwise;
  };
  struct {
    std::int64_t test_batches, batch, steps, accumulate;
  } numbers{number("test_batches", 0), number("batch", 0), number("steps", 0), number("accumulate", 1)};
  return DataSettings{document.at(section::kTask), example_rows(numbers)};
}

}  // namespace ablate
