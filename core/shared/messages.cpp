#include "core/shared/messages.h"

#include <optional>

#include "core/shared/fields.h"

namespace ablate {

using nlohmann::json;

/// Written as [metric, step, value], because a curve has many points.
template <>
struct TextOf<CurvePoint> {
  static constexpr const char* expected = "[a metric's name, a whole number, a number or null]";
  static json to(const CurvePoint& point) { return {point.metric, point.step, point.value}; }
  static CurvePoint from(const json& value) {
    const auto& number = value.at(2);
    return {value.at(0), value.at(1), number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.get<double>()};
  }
};

template <>
struct TextOf<MetricInfo> {
  static constexpr const char* expected = "a metric's definition";
  static json to(const MetricInfo& metric) { return metric; }
  static MetricInfo from(const json& value) { return value; }
};

namespace {

/// The dev metric of a Progress, if there is one.
struct Dev {
  MetricInfo metric;
  double value = std::numeric_limits<double>::quiet_NaN();
};

void fields(auto& f, Is<Dev> auto& m) {
  f("metric", m.metric);
  f("value", m.value);
}

}  // namespace

void fields(auto& f, Is<CurvePart> auto& m) {
  f("curve", m.points);
  f("metrics", m.metrics);
}

void fields(auto& f, Is<Progress> auto& m) {
  f("step", m.step);
  f("steps", m.steps);
  f("loss", m.loss);
  f("device_bytes", m.device_bytes);
  fields(f, m.curve);
}

void fields(auto& f, Is<TrialResult> auto& m) {
  f("results", m.values);
  f("main_metric", m.main_metric);
  f("definitions", m.metrics);
  fields(f, m.curve);
}

void fields(auto& f, Is<Resumed> auto& m) {
  f("resumed", m.step);
  f("owner", m.owner);
  f("environments", m.environments);
  f("wall_s", m.wall_s);
  f("cpu_s", m.cpu_s);
  f("peak_resident_bytes", m.peak_resident_bytes);
  f("unusable", m.unusable);
}

void fields(auto& f, Is<Saved> auto& m) {
  f("saved", m.step);
  f("failed_save", m.failed);
}

namespace {

template <class M>
json written(const M& message) {
  json text;
  FieldWriter writer(text);
  fields(writer, message);
  return text;
}

template <class M>
M read(FieldReader& reader) {
  M message;
  fields(reader, message);
  return message;
}

}  // namespace

json to_json(const Progress& progress) {
  json message;
  FieldWriter writer(message);
  fields(writer, progress);
  if (!progress.dev_metric.name.empty())
    writer("dev", std::optional(Dev{.metric = progress.dev_metric, .value = progress.dev}));
  return message;
}

json to_json(const TrialResult& result) { return written(result); }
json to_json(const Resumed& resumed) { return written(resumed); }
json to_json(const Saved& saved) { return written(saved); }

TrialSaid trial_said_from_json(const json& message) {
  FieldReader reader(message, "a trial's message");
  if (message.contains("results")) return read<TrialResult>(reader);
  if (message.contains("resumed")) return read<Resumed>(reader);
  if (message.contains("saved")) return read<Saved>(reader);
  Progress progress{.loss = 0, .dev = std::numeric_limits<double>::quiet_NaN()};
  fields(reader, progress);
  std::optional<Dev> dev;
  reader("dev", dev);
  if (dev) progress.dev_metric = dev->metric, progress.dev = dev->value;
  return progress;
}

}  // namespace ablate
