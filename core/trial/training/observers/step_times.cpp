// Times of training steps and of their parts.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/trial/device/device.h"
#include "core/trial/training/observer.h"

namespace ablate {
namespace {

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns the CPU time of all threads of the process, in ms.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// Waits for the device at every mark, so that device time counts in the part that launched the work.
class StepTimes final : public Observer {
 public:
  explicit StepTimes(const Observed& observed)
      : device_(observed.device), examples_(static_cast<double>(observed.train.batch * observed.train.accumulate)) {}

  void step_begins() override {
    cpu_begin_ = processor_time();
    mark_ = forward_time_ = backward_time_ = 0;
    begin_ = std::chrono::steady_clock::now();
  }
  void has_loss() override { forward_time_ += since_mark(); }
  void has_gradients() override { backward_time_ += since_mark(); }
  void step_ends(std::int64_t, std::optional<double>, Curve&) override {
    forward_.push_back(forward_time_);
    forward_backward_.push_back(forward_time_ + backward_time_);
    step_.push_back(since_begin());
    cpu_.push_back(processor_time() - cpu_begin_);
  }
  void end(std::vector<Scored>& scores) const override {
    const auto step_time = median(step_);
    scores.push_back(training_score("train/forward_time", median(forward_)));
    scores.push_back(training_score("train/forward_backward_time", median(forward_backward_)));
    scores.push_back(training_score("train/step_time", step_time));
    scores.push_back(training_score("train/step_cpu_time", median(cpu_)));
    scores.push_back(training_score("train/step_spread", spread(step_)));
    scores.push_back(training_score("train/examples_per_second", 1000.0 * examples_ / step_time));
  }

  nlohmann::json save() const override { return {forward_, forward_backward_, step_, cpu_}; }
  void load(const nlohmann::json& saved) override {
    auto next = saved.begin();
    for (auto* times : {&forward_, &forward_backward_, &step_, &cpu_}) *times = (next++)->get<std::vector<double>>();
  }

 private:
  double since_begin() const {
    synchronize(device_);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_).count();
  }
  double since_mark() {
    const double now = since_begin();
    return now - std::exchange(mark_, now);
  }

  c10::Device device_;
  double examples_;  ///< per step
  std::chrono::steady_clock::time_point begin_;
  double cpu_begin_ = 0, mark_ = 0, forward_time_ = 0, backward_time_ = 0;
  std::vector<double> forward_, forward_backward_, step_, cpu_;  ///< by step, in ms
};

}  // namespace

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

std::unique_ptr<Observer> observers::step_times(const Observed& observed) { return std::make_unique<StepTimes>(observed); }

}  // namespace ablate
