// Which settings of a trial say what data it trains on and is asked, and what they say: for the history, which knows a trial's
// document and not its type (core/shared/trial_spec.h). Paths are those of core/util/flatten.h.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/records/example_rows.h"
#include "core/records/setting_paths.h"
#include "core/util/flatten.h"

namespace ablate {

/// Whether trials that have other values of it are asked other test examples. @param in_batches whether tests are of so many
/// batches (train.test_batches), and their size counts, too
inline bool decides_test_examples(const std::string& path, bool in_batches) {
  if (path == setting::kBatch) return in_batches;
  return is_of_task(path) || path == setting::kTestBatches || path == setting::kStride || path == setting::kSegment;
}

/// Whether trials that have other values of it may have another task or other ExampleRows.
inline bool decides_rows(const std::string& path) {
  return is_of_task(path) || path == setting::kTestBatches || path == setting::kBatch || path == setting::kSteps ||
         path == setting::kAccumulate;
}

/// The plugin of a section; "" where it names none.
inline std::string plugin_id_of(const nlohmann::json& section) {
  const auto found = section.find(section::kPlugin);
  return found != section.end() && found->is_string() ? found->get<std::string>() : "";
}

/// A plugin's section that says no more than which it is. @param id a text
inline nlohmann::json plugin_section(const nlohmann::json& id) { return {{section::kPlugin, id}}; }

/// The settings of a task's section, by path.
inline std::map<std::string, nlohmann::json> task_settings(const nlohmann::json& task) {
  return flatten({{section::kTask, task}});
}

/// @param train what has the numbers of [train], by their names
template <class Train>
ExampleRows example_rows(const Train& train) {
  return {train.test_batches * train.batch, train.steps * train.accumulate * train.batch, train.batch};
}

struct DataSettings {
  nlohmann::json task;  ///< its section
  ExampleRows rows;
};

/// Of a trial's document; nothing where it has no task. Of the numbers it may lack some, as those of former versions do.
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
