#include "core/runtime/step_times.h"

#include <algorithm>

#include "core/runtime/device.h"

namespace ablate {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void StepTimes::begin() { begin_ = std::chrono::steady_clock::now(); }

std::map<std::string, double> StepTimes::medians() const {
  return {{"train/forward_time", median(forward_)},
          {"train/forward_backward_time", median(forward_backward_)},
          {"train/step_time", median(step_)}};
}

double StepTimes::since_begin() const {
  synchronize(device_);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
}

}  // namespace ablate
