// Whether a worker still answers.
#pragma once

namespace ablate {

/// Asks now and then, more often where the worker is late with something. Times are the scheduler's own, in seconds.
class Liveness {
 public:
  /// @param patience_s for an answer, and between two requests, where it is late @param usual_s elsewhere
  Liveness(double patience_s, double usual_s) : patience_s_(patience_s), usual_s_(usual_s) {}

  enum class Next { kNothing, kAsk, kGiveUp };

  /// @param overdue whether the worker should have told something long ago. A worker that answers is waited for: a process
  /// that was killed may take its time to end.
  Next look(bool overdue, double now_s) {
    if (now_s - since_s_ < (overdue ? patience_s_ : usual_s_)) return Next::kNothing;
    const bool silent = asked_;
    asked_ = !silent, since_s_ = now_s;
    return silent ? Next::kGiveUp : Next::kAsk;
  }
  void answered(double now_s) { asked_ = false, since_s_ = now_s; }

 private:
  double patience_s_, usual_s_, since_s_ = 0;  ///< since the latest request or answer
  bool asked_ = false;
};

}  // namespace ablate
