#include "core/trial/training/own_metrics.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/util/error.h"

namespace ablate {
namespace {

/// @return by example: a class for each of its targets, -1 where none is asked
std::vector<std::vector<std::int64_t>> by_example(const Batch& batch, const at::Tensor& predicted) {
  const auto answers = predicted.to(at::kCPU, at::kLong).contiguous();
  const auto* const answer = answers.const_data_ptr<std::int64_t>();
  const auto count = static_cast<std::size_t>(answers.numel());
  std::vector<std::vector<std::int64_t>> all;
  if (!batch.asked.defined()) {
    for (std::size_t i = 0; i < count; ++i) all.push_back({answer[i]});
    return all;
  }
  const auto length = static_cast<std::size_t>(batch.fields.front().size(1));
  all.assign(static_cast<std::size_t>(batch.size), std::vector<std::int64_t>(length, -1));
  const auto asked = batch.asked.cpu();
  for (std::size_t i = 0; i < count; ++i) {
    const auto position = static_cast<std::size_t>(asked.const_data_ptr<std::int64_t>()[i]);
    all[position / length][position % length] = answer[i];
  }
  return all;
}

}  // namespace

void OwnMetrics::add(Split split, std::span<const std::int64_t> indices, const Batch& batch, const at::Tensor& predicted) {
  const auto answers = by_example(batch, predicted);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    // What a task leaves out is no number, and refused below.
    std::vector<double> values(info_.metrics.size(), std::numeric_limits<double>::quiet_NaN());
    task_.judge(split, indices[i], answers[i], values);
    for (std::size_t m = 0; m < values.size(); ++m)
      if (!std::isfinite(values[m]))
        throw Error(fmt::format("the task judges example {} with {} = {}", indices[i], info_.metrics[m].name, values[m]));
    add("", values);
    for (std::size_t s = 0; s < info_.slices.size(); ++s)
      add(info_.slices[s] + "=" + std::to_string(batch.slices[i][s]), values);
  }
}

void OwnMetrics::add(const std::string& group, const std::vector<double>& values) {
  auto& sum = sums_[group];
  sum.values.resize(values.size());
  for (std::size_t m = 0; m < values.size(); ++m) sum.values[m] += values[m];
  ++sum.examples;
}

std::vector<Scored> OwnMetrics::of(const std::string& group) const {
  std::vector<Scored> all;
  const auto found = sums_.find(group);
  for (std::size_t m = 0; found != sums_.end() && m < info_.metrics.size(); ++m) {
    const auto& [name, unit, direction, description] = info_.metrics[m];
    const double mean = found->second.values[m] / found->second.examples;
    if (!std::isfinite(mean))
      throw Error(fmt::format("the task judges examples{} with values of {} whose sum is {}",
                              group.empty() ? "" : " with " + group, name, mean));
    const auto kind = direction.empty() ? MetricKind::kCount : MetricKind::kScore;
    all.push_back({{name, unit, direction, description, kind, MetricOwner::kTask}, mean});
  }
  return all;
}

}  // namespace ablate
