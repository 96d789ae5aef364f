#include "core/trial/training/trial.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/shared/evaluations.h"
#include "core/trial/device/device.h"
#include "core/trial/device/recorder.h"
#include "core/trial/device/tensor_memory.h"
#include "core/trial/training/safetensors.h"
#include "core/trial/training/trial_model.h"
#include "core/util/error.h"

namespace ablate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

c10::Device prepare_device(const TrainSpec& train) {
  keep_freed_memory();
  at::set_num_threads(static_cast<int>(train.threads));
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  return open_device(train.device);
}

}  // namespace

TrialRun::TrialRun(const TrialParts& parts, Report report)
    : report_(std::move(report)),
      train_(parts.trial.train),
      device_(prepare_device(train_)),
      threads_(at::get_num_threads()),
      training_(parts, device_),
      now_{.steps = train_.steps, .loss = kNone, .dev = kNone} {
  if (train_.graphs) replay_steps();
  training_.when_evaluating([this] { report_if_due(); });  // otherwise a long evaluation looks stuck
}

void TrialRun::replay_steps() {
  std::unique_ptr<WorkRecorder> recorder;
  std::string why;
  try {
    recorder = open_recorder(device_);
  } catch (const Error& error) {
    why = error.what();
  }
  training_.replay_steps(std::move(recorder), why);
}

void TrialRun::report_if_due() {
  if (Clock::now() - reported_at_ > std::chrono::milliseconds(100)) send_report();
}

void TrialRun::advance() {
  const auto loss = training_.step();
  const auto step = now_.step = training_.steps_done();
  now_.loss = loss.value_or(now_.loss);
  // Reports before an evaluation, which may take long.
  report_if_due();
  if (step % steps_between_evaluations(train_.steps, train_.evaluate_every) == 0 || step == train_.steps)
    training_.evaluate_dev();
}

TrialResult TrialRun::result(const std::function<void()>& after_step) try {
  now_.step = training_.steps_done();
  send_report();
  while (training_.steps_done() < train_.steps) {
    advance();
    if (after_step) after_step();
  }
  send_report();
  for (const auto& [info, value] : training_.observed()) put(info, value);
  if (train_.graphs) {
    result_.values["train/replayed_steps"] = static_cast<double>(training_.steps_replayed());
    if (const auto& why = training_.why_not_replayed(); !why.empty())
      std::cerr << "training steps are not replayed: " << why << "\n";
    if (const auto steps = training_.steps_uncompared(); steps > 0)
      std::cerr << steps
                << " replayed steps were never compared with plain steps, because a tensor of the model was replaced or "
                << "the training resumed in another process\n";
  }
  result_.values["model/parameters"] = static_cast<double>(parameter_count(training_.model()));
  std::optional<Evaluation> last;
  if (train_.test_last && training_.best_step() != train_.steps) last = training_.evaluate(Split::kTest);
  training_.restore_best();
  put("dev/", training_.best());
  result_.values["dev/best_step"] = static_cast<double>(training_.best_step());
  const auto test = training_.evaluate(Split::kTest);
  put("test/", test);
  if (train_.test_last) put("test_last/", last ? *last : test);
  for (const auto& measured : test.measurements) put(attention_metric(measured), measured.value);
  result_.main_metric = "test/" + test.metrics.front().info.name;
  for (const auto& info : training_metrics()) result_.metrics.push_back(info);
  result_.curve = training_.curve().take();
  if (const int found = at::get_num_threads(); found != threads_)
    throw std::runtime_error(
        fmt::format("torch computes with {} threads at the end of the trial, and with {} at its beginning (train.threads): "
                    "code of "
                    "the trial called at::set_num_threads, so its numbers do not belong to this study",
                    found, threads_));
  return std::move(result_);
} catch (...) {
  send_report();
  throw;
}

void TrialRun::write_weights(const std::filesystem::path& file) const {
  NamedTensors tensors;
  for (const auto& entries : {training_.model().parameters(), training_.model().buffers()})
    for (const auto& entry : entries) tensors.emplace_back(entry.name, entry.tensor);
  write_safetensors(file, tensors);
}

void TrialRun::put(const MetricInfo& metric, double value) {
  result_.metrics.push_back(metric);
  result_.values[metric.name] = value;
}

void TrialRun::put(const std::string& split, const Evaluation& evaluation) {
  for (const auto* metrics : {&evaluation.metrics, &evaluation.sliced})
    for (auto [info, value] : *metrics) {
      info.name = split + info.name;
      put(info, value);
    }
}

void TrialRun::send_report() {
  if (training_.best_step() != 0) {
    now_.dev_metric = training_.best().metrics.front().info;
    now_.dev = training_.latest_dev();
  }
  now_.curve = training_.curve().take();
  now_.device_bytes = held_memory(device_);
  report_(now_);
  reported_at_ = Clock::now();
}

TrialResult run_trial(const TrialParts& parts, const Report& report) { return TrialRun(parts, report).result(); }

}  // namespace ablate
