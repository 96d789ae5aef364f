#include "core/trial/training/curve.h"

namespace ablate {

using nlohmann::json;

json Curve::save() const {
  auto points = json::array();
  for (const auto& [metric, step, value] : untold_.points) points.push_back({metric, step, value});
  return {{"points", points}, {"metrics", untold_.metrics}, {"defined", defined_}};
}

void Curve::load(const json& saved) {
  untold_ = {};
  for (const auto& one : saved.at("points")) untold_.points.push_back({one[0], one[1], one[2]});
  saved.at("metrics").get_to(untold_.metrics);
  defined_ = saved.at("defined").get<std::set<std::string>>();
}

}  // namespace ablate
