#include "core/trial/training/curve.h"

namespace ablate {

using nlohmann::json;

json Curve::save() const {
  auto points = json::array(), metrics = json::array();
  for (const auto& [metric, step, value] : untold_.points) points.push_back({metric, step, value});
  for (const auto& [name, unit, direction, description] : untold_.metrics)
    metrics.push_back({name, unit, direction, description});
  return {{"points", points}, {"metrics", metrics}, {"defined", defined_}};
}

void Curve::load(const json& saved) {
  untold_ = {};
  for (const auto& one : saved.at("points")) untold_.points.push_back({one[0], one[1], one[2]});
  for (const auto& one : saved.at("metrics")) untold_.metrics.push_back({one[0], one[1], one[2], one[3]});
  defined_ = saved.at("defined").get<std::set<std::string>>();
}

}  // namespace ablate
