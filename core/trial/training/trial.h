// One trial, from a resolved study point to its results.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

#include "core/shared/messages.h"
#include "core/trial/training/training.h"

namespace ablate {

using Report = std::function<void(const Progress&)>;

/// Run of a trial, with its measurements and reports. It can be saved between two steps. Another run of the same parts then
/// resumes with the same bits. A TrialRun takes over the process: threads, seeds, device.
class TrialRun {
 public:
  /// Throws std::exception with the reason: a promise that the plugin does not make, a missing device.
  /// @param parts must outlive the run
  /// @param report called before the first step, then at most ten times a second, and after the last step. Also called before
  /// an exception leaves result(), so that measurements are reported whatever the outcome
  TrialRun(const TrialParts& parts, Report report);

  /// Takes one step and any evaluation due after it. Throws std::exception with the reason, such as a loss that is not finite.
  void advance();

  std::int64_t steps_done() const { return training_.steps_done(); }

  /// Takes all remaining steps and tests. After each step calls `after_step`, which may call save(). Throws as advance() does.
  TrialResult result(const std::function<void()>& after_step = {});

  /// Writes the best weights, after result(): parameters and buffers by the model's names, as write_safetensors does.
  void write_weights(const std::filesystem::path& file) const;

  /// Includes everything reported so far: a run that resumes from the state reports it again.
  TrainingState save() const { return training_.save(); }
  /// Call it before the first step. Throws std::exception for a state of other parts. This run is then unusable.
  void load(const TrainingState& state) { training_.load(state); }

 private:
  void put(const MetricInfo& metric, double value);
  void put(const std::string& split, const Evaluation& evaluation);
  void send_report();
  void report_if_due();
  void replay_steps();

  Report report_;
  const TrainSpec& train_;
  c10::Device device_;
  int threads_;  ///< torch's threads
  Training training_;
  Progress now_;
  std::chrono::steady_clock::time_point reported_at_{};
  TrialResult result_;
};

/// Trains, evaluates, tests: a TrialRun from its beginning to its end. Equal parts give equal bits.
TrialResult run_trial(const TrialParts& parts, const Report& report);

}  // namespace ablate
