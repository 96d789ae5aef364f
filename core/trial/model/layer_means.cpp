#include "core/trial/model/layer_means.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {

void LayerMeans::add(const std::string& plugin, const std::vector<Measurement>& metrics) {
  for (const auto& metric : metrics) {
    const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    if (metric.name.empty() || !std::all_of(metric.name.begin(), metric.name.end(), in_name))
      throw Error(fmt::format("attention {} reports a metric named \"{}\", expected snake_case", plugin, metric.name));
    if (one_line(metric.unit) != metric.unit)
      throw Error(
          fmt::format("attention {} reports {} in the unit \"{}\", expected one line", plugin, metric.name, metric.unit));
    const auto name = plugin + "/" + metric.name;
    auto& [sum, layers] = sums_.try_emplace(name, Measurement{name, 0, metric.unit}, 0).first->second;
    sum.value += metric.value;
    ++layers;
  }
}

std::vector<Measurement> LayerMeans::take() {
  std::vector<Measurement> means;
  for (auto& [name, sum] : sums_) {
    sum.first.value /= sum.second;
    means.push_back(std::move(sum.first));
  }
  return means;
}

}  // namespace ablate
