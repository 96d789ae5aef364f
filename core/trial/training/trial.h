// One trial, from a resolved study point to its results.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

#include "core/shared/messages.h"
#include "core/trial/training/training.h"

namespace ablate {

using Report = std::function<void(const Progress&)>;

/// How a trial goes: what is measured of it, and told. Between two steps it may be saved, and another of the same parts goes on
/// with the same bits. Takes over the process: threads, seeds, device.
class TrialRun {
 public:
  /// @param parts outlive the run @param report called before the first step, at most ten times a second, after the last step,
  /// and before an exception leaves result(): what a trial has measured is told however it ends Throws std::exception with the
  /// reason: a promise that the plugin does not make, a device that is not there.
  TrialRun(const TrialParts& parts, Report report);

  /// One step, and the evaluation that is due after it. Throws std::exception with the reason: a loss that is not finite.
  void advance();

  std::int64_t steps_done() const { return training_.steps_done(); }

  /// All steps that are left, and the test. Throws as advance() does. @param after_step called after each of them: it may save
  TrialResult result(const std::function<void()>& after_step = {});

  /// The best weights, after result(): parameters and buffers by the model's names, as write_safetensors does.
  void write_weights(const std::filesystem::path& file) const;

  /// With all that it has told: one that goes on from it tells that again.
  TrainingState save() const { return training_.save(); }
  /// Before a step is taken. Throws std::exception for a state of other parts; then this run is of no use.
  void load(const TrainingState& state) { training_.load(state); }

 private:
  void put(const MetricInfo& metric, double value);
  void put(const std::string& split, const Evaluation& evaluation);
  void tell();
  void tell_now_and_then();
  void replay_steps();

  Report report_;
  const TrainSpec& train_;
  c10::Device device_;
  int threads_;  ///< that torch computes with
  Training training_;
  Progress now_;
  std::chrono::steady_clock::time_point told_{};
  TrialResult result_;
};

/// Trains, evaluates, tests: a TrialRun from its beginning to its end. Same parts, same bits.
TrialResult run_trial(const TrialParts& parts, const Report& report);

}  // namespace ablate
