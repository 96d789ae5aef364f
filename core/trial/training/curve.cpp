#include "core/trial/training/curve.h"

namespace ablate {

using nlohmann::json;

json Curve::save() const {
  auto points = json::array(), metrics = json::array();
  for (const auto* part : {&taken_, &pending_}) {
    for (const auto& [metric, step, value] : part->points) points.push_back({metric, step, value});
    for (const auto& metric : part->metrics) metrics.push_back(metric);
  }
  return {{"points", points}, {"metrics", metrics}};
}

void Curve::load(const json& saved) {
  taken_ = pending_ = {};
  defined_.clear();
  for (const auto& one : saved.at("points")) pending_.points.push_back({one[0], one[1], one[2]});
  for (const MetricInfo metric : saved.at("metrics")) define(metric);
}

}  // namespace ablate
