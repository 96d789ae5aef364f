#include "core/trial/training/step_times.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/trial/device/device.h"

namespace ablate {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Of all threads of the process, ms.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

}  // namespace

void StepTimes::begin() {
  cpu_begin_ = processor_time();
  mark_ = forward_time_ = backward_time_ = 0;
  begin_ = std::chrono::steady_clock::now();
}

void StepTimes::end() {
  forward_.push_back(forward_time_);
  forward_backward_.push_back(forward_time_ + backward_time_);
  step_.push_back(since_begin());
  cpu_.push_back(processor_time() - cpu_begin_);
}

std::map<std::string, double> StepTimes::summary() const {
  return {{"train/forward_time", median(forward_)},
          {"train/forward_backward_time", median(forward_backward_)},
          {"train/step_time", median(step_)},
          {"train/step_cpu_time", median(cpu_)},
          {"train/step_spread", spread(step_)}};
}

double StepTimes::since_begin() const {
  synchronize(device_);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
}

double StepTimes::since_mark() {
  const double now = since_begin();
  return now - std::exchange(mark_, now);
}

double spread(std::vector<double> times) {
  if (times.size() > 2) times.erase(times.begin());
  std::sort(times.begin(), times.end());
  const auto quantile = [&](double share) {
    const double place = share * static_cast<double>(times.size() - 1);
    const auto below = static_cast<std::size_t>(place), above = std::min(below + 1, times.size() - 1);
    return times[below] + (place - std::floor(place)) * (times[above] - times[below]);
  };
  return 100 * (quantile(0.75) - quantile(0.25)) / quantile(0.5);
}

}  // namespace ablate
