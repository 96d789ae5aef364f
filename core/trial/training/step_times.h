// How long training steps take, and what in them takes it.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace ablate {

/// Marks points of a step: begin, then loss and gradients for each of its batches, and end. Waits for the device at every mark,
/// so that its time counts where it was asked for.
class StepTimes {
 public:
  explicit StepTimes(c10::Device device) : device_(device) {}

  void begin();
  void loss() { forward_time_ += since_mark(); }
  void gradients() { backward_time_ += since_mark(); }
  void end();

  /// Medians over the steps, ms: train/forward_time, train/forward_backward_time, train/step_time, train/step_cpu_time; and
  /// train/step_spread. At least one step.
  std::map<std::string, double> summary() const;

 private:
  double since_begin() const;
  double since_mark();

  c10::Device device_;
  std::chrono::steady_clock::time_point begin_;
  double cpu_begin_ = 0, mark_ = 0, forward_time_ = 0, backward_time_ = 0;
  std::vector<double> forward_, forward_backward_, step_, cpu_;
};

/// The middle half of the times over their median, in %: how far apart they lie. The first is left out where there are more
/// than two, since it pays for memory that the others find. @param times at least one
double spread(std::vector<double> times);

}  // namespace ablate
