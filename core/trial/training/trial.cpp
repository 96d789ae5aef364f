#include "core/trial/training/trial.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/registry/values.h"
#include "core/shared/evaluations.h"
#include "core/trial/device/device.h"
#include "core/trial/device/tensor_memory.h"
#include "core/trial/model/encoder.h"
#include "core/trial/objectives/evaluation.h"
#include "core/trial/training/batches.h"
#include "core/trial/training/checkpoint.h"
#include "core/trial/training/optimizer.h"
#include "core/trial/training/schedule.h"
#include "core/trial/training/step_times.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr std::int64_t kCurvePoints = 200;  ///< of train/loss, at most

/// Independent streams from one seed (splitmix64): weights, order of examples, shuffled labels.
std::uint64_t stream(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + 0x9E3779B97F4A7C15ull * (number + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/// Of the training loop, by its name.
const MetricInfo& metric(const std::string& name) {
  const auto metrics = training_metrics();
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const auto& one) { return one.name == name; });
  if (found == metrics.end()) throw std::logic_error("no metric " + name);
  return *found;
}

class Run {
 public:
  Run(const TrialParts& parts, const std::function<void(const Progress&)>& report)
      : parts_(parts),
        report_(report),
        model_section_(parts.resolved.at("model")),
        train_(parts.resolved.at("train")),
        seed_(parts.resolved.at("seed").get<std::uint64_t>()),
        info_(parts.task.info()),
        device_(prepare_device()),
        reader_(parts.task, info_, device_) {
    build();
  }

  TrialResult result() try {
    train();
    checkpoint_.restore(*model_);
    put("dev/accuracy", best_.accuracy);
    put("dev/loss", best_.loss);
    put("dev/best_step", static_cast<double>(best_step_));
    const auto test = evaluate(Split::kTest, train_.integer("test_batches"));
    put("test/accuracy", test.accuracy);
    put("test/loss", test.loss);
    for (const auto& measured : test.metrics) {
      const auto info = attention_metric(measured);
      curve_.define(info);
      put(info.name, measured.value);
    }
    for (const auto& info : training_metrics()) curve_.define(info);
    result_.curve = curve_.take();
    return std::move(result_);
  } catch (...) {
    report();
    throw;
  }

 private:
  c10::Device prepare_device() const {
    keep_freed_memory();
    at::set_num_threads(static_cast<int>(train_.integer("threads")));
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    at::globalContext().setDeterministicFillUninitializedMemory(false);
    const auto device = open_device(train_.text("device"));
    at::manual_seed(seed_);
    return device;
  }

  void build() {
    const auto refuse = [&](const std::string& why) {
      throw Error(fmt::format("attention {} {}", parts_.attention.descriptor->id, why));
    };
    const auto& can = parts_.attention.descriptor->capabilities;
    const bool class_token = model_section_.text("pooling") == "cls";
    const auto places = info_.length + (class_token ? 1 : 0);
    if (places % can.length_multiple != 0)
      refuse(fmt::format("needs lengths that are a multiple of {}, and sequences have {} tokens", can.length_multiple, places));
    if (!device_.is_cpu() && !can.cuda) refuse("does not promise to run on CUDA devices");
    if (!device_.is_cpu() && parts_.compression.descriptor != nullptr && !parts_.compression.descriptor->capabilities.cuda)
      throw Error(fmt::format("compression {} does not promise to run on CUDA devices", parts_.compression.descriptor->id));
    const EncoderShape shape{info_.vocabulary,
                             info_.length,
                             info_.classes,
                             model_section_.integer("layers"),
                             model_section_.integer("d_model"),
                             model_section_.integer("hidden"),
                             model_section_.real("dropout"),
                             class_token};
    auto generator = make_generator(stream(seed_, 0));
    const auto make = [&](std::int64_t length) {
      return make_attention(parts_.attention, parts_.compression, {shape.d_model, length, false}, generator);
    };
    model_ = std::make_shared<Encoder>(shape, make, generator);
    move_to(*model_, device_, train_.text("dtype") == "bfloat16" ? torch::kBFloat16 : torch::kFloat32);
    optimizer_.emplace(model_->parameters(), AdamW::Options{train_.real("beta1"), train_.real("beta2"), train_.real("epsilon"),
                                                            train_.real("weight_decay")});
    generator_ = at::globalContext().defaultGenerator(device_);
    if (train_.boolean("shuffle_labels")) {
      shuffled_.resize(static_cast<std::size_t>(parts_.task.size(Split::kTrain)));
      std::iota(shuffled_.begin(), shuffled_.end(), 0);
      std::mt19937_64 random(stream(seed_, 2));
      permute(shuffled_, random);
    }
  }

  EncoderOutput forward(const Batch& batch, bool measure) {
    if (batch.mask.defined() && !parts_.attention.descriptor->capabilities.key_padding)
      throw Error(fmt::format("attention {} does not promise key_padding, and the task's sequences are padded",
                              parts_.attention.descriptor->id));
    auto output = model_->forward(batch.ids, batch.mask, generator_, measure);
    output.logits = output.logits.to(torch::kFloat32);  // a loss in fewer digits would be the loss of other outputs
    return output;
  }

  Batch training_batch(Shuffle& order, std::int64_t size) {
    const auto indices = order.next(size);
    auto batch = reader_.read(Split::kTrain, indices);
    if (!shuffled_.empty()) {
      std::vector<std::int64_t> others;
      for (const auto index : indices) others.push_back(shuffled_[static_cast<std::size_t>(index)]);
      batch.labels = reader_.read(Split::kTrain, others).labels;
    }
    return batch;
  }

  void train() {
    const auto steps = now_.steps = train_.integer("steps"), size = train_.integer("batch"), warmup = train_.integer("warmup");
    const auto schedule = train_.text("schedule");
    const double peak_rate = train_.real("learning_rate"), clip = train_.real("clip");
    const auto every = steps_between_evaluations(steps, train_.integer("evaluate_every"));
    const auto window = (steps + kCurvePoints - 1) / kCurvePoints;
    if (parts_.task.size(Split::kTrain) == 0) throw Error("the task has no training examples");
    Shuffle order(parts_.task.size(Split::kTrain), stream(seed_, 1));
    StepTimes times(device_);
    double window_loss = 0;
    std::int64_t in_window = 0, peak_bytes = 0;
    report();
    model_->train();
    reset_peak_memory(device_);
    for (std::int64_t step = 1; step <= steps; ++step) {
      times.begin();
      const auto batch = training_batch(order, size);
      auto output = forward(batch, false);
      auto loss = at::cross_entropy_loss(output.logits, batch.labels);
      const double value = loss.item<double>();
      if (output.auxiliary_loss.defined()) loss = loss + output.auxiliary_loss;
      if (!std::isfinite(value) || !std::isfinite(loss.item<double>()))
        throw Error(
            fmt::format("loss is {} at step {}", std::isnan(value) ? "nan" : fmt::format("{}", loss.item<double>()), step));
      times.loss();
      optimizer_->zero_grad();
      loss.backward();
      times.gradients();
      optimizer_->clip(clip);
      optimizer_->step(peak_rate * learning_rate_factor(schedule, step, steps, warmup));
      model_->on_step(step);
      times.end();
      window_loss += value;
      if (++in_window == window || step == steps) {
        const double mean = window_loss / static_cast<double>(in_window);
        curve_.add(metric("train/loss"), step, mean);
        put("train/loss", mean);
        window_loss = 0, in_window = 0;
      }
      now_.step = step, now_.loss = value;
      // Before an evaluation, which may be long.
      if (Clock::now() - reported_ > std::chrono::milliseconds(100)) report();
      if (step % every == 0 || step == steps) {
        peak_bytes = std::max(peak_bytes, peak_memory(device_));
        evaluate_dev(step);
        reset_peak_memory(device_);
      }
    }
    report();
    result_.values.merge(times.summary());
    put("train/examples_per_second", 1000.0 * static_cast<double>(size) / result_.values.at("train/step_time"));
    put("memory/peak_tensor", static_cast<double>(peak_bytes) / kMiB);
    std::int64_t parameters = 0;
    for (const auto& parameter : model_->parameters()) parameters += parameter.numel();
    put("model/parameters", static_cast<double>(parameters));
  }

  void evaluate_dev(std::int64_t step) {
    auto dev = evaluate(Split::kDev, train_.integer("evaluate_batches"));
    curve_.add(metric("dev/accuracy"), step, dev.accuracy);
    curve_.add(metric("dev/loss"), step, dev.loss);
    for (const auto& measured : dev.metrics) curve_.add(attention_metric(measured), step, measured.value);
    now_.dev_accuracy = dev.accuracy;
    if (best_step_ != 0 && dev.accuracy <= best_.accuracy) return;
    best_ = std::move(dev);
    best_step_ = step;
    checkpoint_.keep(*model_);
  }

  /// @param batches at most so many; 0: all of the split
  Evaluation evaluate(Split split, std::int64_t batches) {
    torch::NoGradGuard no_grad;
    model_->eval();
    const auto size = train_.integer("batch"), examples = parts_.task.size(split);
    const auto last = batches == 0 ? examples : std::min(examples, batches * size);
    if (last == 0) throw Error("the task's dev or test split has no examples");
    EvaluationSum sum;
    for (std::int64_t first = 0; first < last; first += size) {
      std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(size, last - first)));
      std::iota(indices.begin(), indices.end(), first);
      const auto batch = reader_.read(split, indices);
      sum.add(forward(batch, true), batch.labels);
    }
    model_->train();
    auto result = sum.mean();
    // The accuracy of such outputs is that of the first class: a number, and wrong.
    if (!std::isfinite(result.loss))
      throw Error(fmt::format("{} loss is {}: outputs of an evaluation are not finite", split == Split::kDev ? "dev" : "test",
                              std::isnan(result.loss) ? "nan" : "inf"));
    return result;
  }

  /// How the history calls what the attention reports: two plugins may each mean something else by a name.
  MetricInfo attention_metric(const Measurement& measured) const {
    const std::string plugin = parts_.attention.descriptor->id;
    return {fmt::format("attention/{}/{}", plugin, measured.name), measured.unit, "",
            fmt::format("reported by {}; mean over examples and over the layers that report it", plugin)};
  }
  void put(const std::string& name, double value) { result_.values[name] = value; }

  void report() {
    now_.curve = curve_.take();
    report_(now_);
    reported_ = Clock::now();
  }

  const TrialParts& parts_;
  const std::function<void(const Progress&)>& report_;
  JsonValues model_section_, train_;
  std::uint64_t seed_;
  TaskInfo info_;
  c10::Device device_;
  BatchReader reader_;
  std::shared_ptr<Encoder> model_;
  std::optional<AdamW> optimizer_;
  torch::Generator generator_;
  std::vector<std::int64_t> shuffled_;
  Evaluation best_;
  std::int64_t best_step_ = 0;
  Checkpoint checkpoint_;
  Curve curve_;
  Progress now_{.loss = std::numeric_limits<double>::quiet_NaN(), .dev_accuracy = -1};
  Clock::time_point reported_;
  TrialResult result_;
};

}  // namespace

TrialResult run_trial(const TrialParts& parts, const std::function<void(const Progress&)>& report) {
  return Run(parts, report).result();
}

}  // namespace ablate
