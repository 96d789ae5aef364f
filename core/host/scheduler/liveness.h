// Whether a worker that is late with something still answers.
#pragma once

namespace ablate {

/// Times are the scheduler's own, in seconds.
class Liveness {
 public:
  explicit Liveness(double patience_s) : patience_s_(patience_s) {}

  enum class Next { kNothing, kAsk, kGiveUp };

  /// @param overdue whether something should have been told by the worker long ago. One that answers is waited for: what was
  /// killed may take its time to go.
  Next look(bool overdue, double now_s) {
    if (!overdue) asked_ = false;
    if (!overdue || (asked_ && now_s - asked_s_ <= patience_s_)) return Next::kNothing;
    const bool silent = asked_ && !answered_;
    asked_ = !silent, answered_ = false, asked_s_ = now_s;
    return silent ? Next::kGiveUp : Next::kAsk;
  }
  void answered() { answered_ = true; }

 private:
  double patience_s_, asked_s_ = 0;
  bool asked_ = false, answered_ = false;
};

}  // namespace ablate
