#include "core/shared/task_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/shared/metrics.h"
#include "core/shared/objectives.h"

namespace ablate {
namespace {

bool is_snake(const std::string& name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

/// Returns the fault of a number out of range, which would cause an obscure error later; "" if there is none.
std::string number_fault(const std::string& name, std::int64_t found, std::int64_t least, std::int64_t most = kMostOfATask) {
  return found < least || found > most ? fmt::format("{} = {}, expected {} to {}", name, found, least, most) : "";
}

/// Returns the fault of a name that is not snake_case or is taken; else adds the name to `taken` and returns "".
std::string name_fault(const char* what, const std::string& name, std::vector<std::string>& taken) {
  if (!is_snake(name)) return fmt::format("the {} \"{}\" is not snake_case", what, name);
  if (std::find(taken.begin(), taken.end(), name) != taken.end())
    return fmt::format("two {}s have the name {}; give one of them another name", what, name);
  taken.push_back(name);
  return "";
}

std::string field_fault(const TaskInfo& info) {
  if (info.fields.empty()) return "no field, expected at least one";
  std::vector<std::string> taken;
  for (const auto& field : info.fields) {
    if (auto fault = name_fault("field", field.name, taken); !fault.empty()) return fault;
    const bool is_real = field.reals != 0 && field.vocabulary == 0;
    if (field.reals != 0 && field.vocabulary != 0)
      return fmt::format("the field {} has vocabulary {} and reals {}; expected one of them", field.name, field.vocabulary,
                         field.reals);
    if (auto fault = number_fault(fmt::format("the {} of the field {}", is_real ? "reals" : "vocabulary", field.name),
                                  is_real ? field.reals : field.vocabulary, is_real ? 1 : 2);
        !fault.empty())
      return fault;
  }
  return "";
}

std::string size_fault(const TaskInfo& info) {
  for (auto fault : {number_fault("length", info.length, 1), number_fault("classes", info.classes, 2),
                     number_fault("train_length", info.train_length, 0, info.length)})
    if (!fault.empty()) return fault;
  const auto asks = asks_of(info.objective);
  if (info.sequences != 1 && (info.sequences != 2 || !asks.pairs || info.sampling != Sampling::kExamples))
    return fmt::format("{} sequences, expected 1, or 2 with a class for the pair", info.sequences);
  if (info.sampling == Sampling::kStream && !asks.streams) return "a stream, but its objective has no targets at positions";
  const auto& picture = info.geometry;
  if (picture.rows > 0 && picture.rows * picture.columns * picture.channels != info.length)
    return fmt::format("a picture of {} x {} x {} numbers, but a length of {}; expected the same number", picture.rows,
                       picture.columns, picture.channels, info.length);
  return "";
}

std::string metric_fault(const TaskInfo& info) {
  // The host writes these metrics itself.
  auto taken = objective_metric_names();
  for (const auto& metric : training_metrics()) taken.push_back(metric.name);
  if (!info.unit.empty()) taken.push_back("test/bits_per_" + info.unit);
  const auto is_taken = [&](const std::string& name) { return std::find(taken.begin(), taken.end(), name) != taken.end(); };
  for (const auto& [name, unit, direction, description] : info.metrics) {
    if (!is_snake(name) || description.empty() || (direction != "max" && direction != "min" && !direction.empty()))
      return fmt::format(
          "metric \"{}\", direction \"{}\", description \"{}\"; expected a name in snake_case, max, min or \"\", and a text",
          name, direction, description);
    if (is_taken("test/" + name) || is_taken("dev/" + name))
      return fmt::format("a metric {} that the host writes itself, or that the task declares twice; give it another name",
                         name);
    taken.push_back("test/" + name);
    if (info.sampling == Sampling::kStream)
      return fmt::format("the metric {} of a stream; expected no metric, because a task's own metrics need examples", name);
  }
  return "";
}

}  // namespace

std::string fault_of(const TaskInfo& info) {
  for (const auto fault : {field_fault, size_fault, metric_fault})
    if (auto found = fault(info); !found.empty()) return found;
  if (!info.unit.empty() && (!is_snake(info.unit) || !asks_of(info.objective).each))
    return fmt::format("the unit \"{}\"; expected a unit in snake_case, and targets at positions", info.unit);
  std::vector<std::string> taken;
  for (const auto& name : info.slices)
    if (auto fault = name_fault("slice", name, taken); !fault.empty()) return fault;
  return "";
}

}  // namespace ablate
