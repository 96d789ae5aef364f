// How long a job may still run.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/util/clock.h"

namespace ablate::slurm {

/// Judges by the remaining time, never by which signal came: sites differ in what they announce, and whether. One thread.
class TimeLimit {
 public:
  /// Seconds left; nothing: no limit, or nobody knows.
  using Ask = std::function<std::optional<double>()>;

  /// @param ask at most each half minute @param near called once, when the time left is just enough to write everything down
  TimeLimit(Ask ask, std::function<void(double left_s)> near, const Clock& clock = machine_clock())
      : ask_(std::move(ask)), near_(std::move(near)), clock_(clock) {}

  /// To be called some times a second.
  void look();

  /// Of a job with so much time in all: at least kLeast_s, so that jobs of a minute are right, too.
  static double margin_s(double whole_s);

  static constexpr double kLeast_s = 20, kMost_s = 120;

 private:
  Ask ask_;
  std::function<void(double)> near_;
  const Clock& clock_;
  std::optional<double> end_s_;    ///< by the clock
  std::optional<double> whole_s_;  ///< left when it was first asked
  double next_ask_s_ = 0;
  bool is_told_ = false;
};

}  // namespace ablate::slurm
