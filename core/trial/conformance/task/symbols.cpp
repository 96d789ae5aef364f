#include "core/trial/conformance/task/symbols.h"

#include <algorithm>

namespace ablate {

std::vector<double> quantiles(std::vector<double> values, std::size_t ranges) {
  std::sort(values.begin(), values.end());
  std::vector<double> edges;
  for (std::size_t i = 1; i < ranges && !values.empty(); ++i)
    if (const auto edge = values[i * values.size() / ranges]; edges.empty() || edge > edges.back()) edges.push_back(edge);
  return edges;
}

Symbols::Symbols(const TaskInfo& info, const std::vector<Example>& examples, std::size_t ranges) : info_(info) {
  for (std::size_t field = 0; field < info.fields.size(); ++field) {
    auto& edges = edges_.emplace_back();
    const auto numbers = static_cast<std::size_t>(info.fields[field].reals);
    for (std::size_t number = 0; number < numbers; ++number) {
      std::vector<double> values;
      for (const auto& example : examples)
        for (std::size_t sequence = 0; sequence < example.present.size(); ++sequence)
          for (std::size_t at = 0; at < example.present[sequence].size(); ++at)
            if (example.present[sequence][at] != 0)
              values.push_back(example.reals[sequence * info.fields.size() + field][at * numbers + number]);
      edges.push_back(quantiles(std::move(values), ranges));
    }
  }
}

std::uint64_t Symbols::operator()(const Example& example, std::size_t part, std::size_t position) const {
  const auto& edges = edges_[part % info_.fields.size()];
  if (edges.empty()) return static_cast<std::uint64_t>(example.ids[part][position]);
  std::uint64_t symbol = 0;
  for (std::size_t number = 0; number < edges.size(); ++number) {
    const double value = example.reals[part][position * edges.size() + number];
    symbol = symbol * 256 + static_cast<std::uint64_t>(std::upper_bound(edges[number].begin(), edges[number].end(), value) -
                                                       edges[number].begin());
  }
  return symbol;
}

std::size_t Symbols::end(const std::vector<std::uint8_t>& present) {
  return static_cast<std::size_t>(std::find_if(present.rbegin(), present.rend(), [](auto one) { return one != 0; }).base() -
                                  present.begin());
}

}  // namespace ablate
