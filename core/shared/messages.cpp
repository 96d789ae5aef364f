#include "core/shared/messages.h"

#include <limits>

namespace ablate {
namespace {

using nlohmann::json;

/// JSON has no NaN: it arrives as null.
double number(const json& value) { return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN(); }

void add_curve(json& message, const CurvePart& part) {
  auto& curve = message["curve"] = json::array();
  for (const auto& point : part.points) curve.push_back({point.metric, point.step, point.value});
  message["metrics"] = part.metrics;
}

}  // namespace

json to_json(const Progress& progress) {
  json message{{"step", progress.step}, {"steps", progress.steps}, {"loss", progress.loss}};
  if (!progress.dev_metric.name.empty()) message["dev"] = {{"metric", progress.dev_metric}, {"value", progress.dev}};
  add_curve(message, progress.curve);
  return message;
}

json to_json(const TrialResult& result) {
  json message{{"results", result.values}, {"main_metric", result.main_metric}};
  add_curve(message, result.curve);
  return message;
}

bool is_result(const json& message) { return message.contains("results"); }

CurvePart curve_from_json(const json& message) {
  CurvePart part;
  if (const auto metrics = message.find("metrics"); metrics != message.end()) metrics->get_to(part.metrics);
  if (const auto curve = message.find("curve"); curve != message.end())
    for (const auto& point : *curve) part.points.push_back({point.at(0), point.at(1), number(point.at(2))});
  return part;
}

Progress progress_from_json(const json& message) {
  Progress progress{.step = message.at("step"),
                    .steps = message.at("steps"),
                    .loss = number(message.at("loss")),
                    .dev = std::numeric_limits<double>::quiet_NaN(),
                    .curve = curve_from_json(message)};
  if (const auto dev = message.find("dev"); dev != message.end())
    dev->at("metric").get_to(progress.dev_metric), progress.dev = number(dev->at("value"));
  return progress;
}

TrialResult result_from_json(const json& message) {
  TrialResult result{.main_metric = message.at("main_metric"), .curve = curve_from_json(message)};
  for (const auto& [name, value] : message.at("results").get_ref<const json::object_t&>()) result.values[name] = number(value);
  return result;
}

}  // namespace ablate
