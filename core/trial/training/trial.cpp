#include "core/trial/training/trial.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/shared/evaluations.h"
#include "core/trial/device/device.h"
#include "core/trial/device/tensor_memory.h"

namespace ablate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr std::int64_t kCurvePoints = 200;  ///< of train/loss, at most

/// Of the training loop, by its name.
const MetricInfo& metric(const std::string& name) {
  const auto metrics = training_metrics();
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const auto& one) { return one.name == name; });
  if (found == metrics.end()) throw std::logic_error("no metric " + name);
  return *found;
}

c10::Device prepare_device(const TrainSpec& train) {
  keep_freed_memory();
  at::set_num_threads(static_cast<int>(train.threads));
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  return open_device(train.device);
}

/// The mean training loss since the last point of its curve.
class LossWindow {
 public:
  explicit LossWindow(std::int64_t steps) : length_((steps + kCurvePoints - 1) / kCurvePoints), steps_(steps) {}
  /// @return the mean, where a window ends with this step.
  std::optional<double> add(std::int64_t step, std::optional<double> loss) {
    if (loss) sum_ += *loss, ++count_;
    if ((++in_window_ < length_ && step != steps_) || count_ == 0) return std::nullopt;
    const double mean = sum_ / static_cast<double>(count_);
    sum_ = 0, count_ = 0, in_window_ = 0;
    return mean;
  }

 private:
  std::int64_t length_, steps_, in_window_ = 0, count_ = 0;
  double sum_ = 0;
};

/// How a trial goes: what is measured of it, and told.
class Course {
 public:
  Course(const TrialParts& parts, const std::function<void(const Progress&)>& report)
      : report_(report),
        train_(parts.trial.train),
        device_(prepare_device(train_)),
        training_(parts, device_),
        times_(device_) {}

  TrialResult result() try {
    train();
    training_.restore_best();
    put("dev/", training_.best());
    result_.values["dev/best_step"] = static_cast<double>(training_.best_step());
    const auto test = training_.evaluate(Split::kTest);
    put("test/", test);
    for (const auto& measured : test.measurements) {
      const auto info = attention_metric(measured);
      training_.curve().define(info);
      result_.values[info.name] = measured.value;
    }
    result_.main_metric = "test/" + test.metrics.front().info.name;
    for (const auto& info : training_metrics()) training_.curve().define(info);
    result_.curve = training_.curve().take();
    return std::move(result_);
  } catch (...) {
    report();
    throw;
  }

 private:
  void train() {
    const auto steps = now_.steps = train_.steps, size = train_.batch * train_.accumulate;
    const auto every = steps_between_evaluations(steps, train_.evaluate_every);
    LossWindow window(steps);
    std::int64_t peak_bytes = 0;
    report();
    reset_peak_memory(device_);
    for (std::int64_t step = 1; step <= steps; ++step) {
      const auto loss = training_.step(times_);
      if (const auto mean = window.add(step, loss)) {
        training_.curve().add(metric("train/loss"), step, *mean);
        result_.values["train/loss"] = *mean;
      }
      now_.step = step, now_.loss = loss.value_or(now_.loss);
      // Before an evaluation, which may be long.
      if (Clock::now() - reported_ > std::chrono::milliseconds(100)) report();
      if (step % every != 0 && step != steps) continue;
      peak_bytes = std::max(peak_bytes, peak_memory(device_));
      training_.evaluate_dev();
      reset_peak_memory(device_);
    }
    report();
    result_.values.merge(times_.summary());
    auto& values = result_.values;
    values["train/examples_per_second"] = 1000.0 * static_cast<double>(size) / values.at("train/step_time");
    values["memory/peak_tensor"] = static_cast<double>(peak_bytes) / kMiB;
    if (const auto bytes = training_.state_bytes()) values["memory/state"] = *bytes / kMiB;
    std::int64_t parameters = 0;
    for (const auto& entry : training_.model().parameters()) parameters += entry.tensor.numel();
    values["model/parameters"] = static_cast<double>(parameters);
  }

  void put(const std::string& split, const Evaluation& evaluation) {
    for (const auto* metrics : {&evaluation.metrics, &evaluation.sliced})
      for (auto [info, value] : *metrics) {
        info.name = split + info.name;
        training_.curve().define(info);
        result_.values[info.name] = value;
      }
  }

  void report() {
    if (training_.best_step() != 0) {
      now_.dev_metric = training_.best().metrics.front().info;
      now_.dev = training_.latest_dev();
    }
    now_.curve = training_.curve().take();
    report_(now_);
    reported_ = Clock::now();
  }

  const std::function<void(const Progress&)>& report_;
  const TrainSpec& train_;
  c10::Device device_;
  Training training_;
  StepTimes times_;
  Progress now_{.loss = std::numeric_limits<double>::quiet_NaN(), .dev = std::numeric_limits<double>::quiet_NaN()};
  Clock::time_point reported_;
  TrialResult result_;
};

}  // namespace

TrialResult run_trial(const TrialParts& parts, const std::function<void(const Progress&)>& report) {
  return Course(parts, report).result();
}

}  // namespace ablate
