// How a running grid looks: live lines on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

namespace ablate {

class Display {
 public:
  /// @param total trials to run @param jobs at a time, for the estimate of the end
  Display(std::FILE* to, int total, int jobs);
  ~Display();

  void started(int job, const std::string& label);
  void progress(int job, long step, long steps, double loss, double dev_accuracy);
  /// @param outcome "done", "failed", ... @param what the main result or the reason
  void ended(int job, const std::string& outcome, const std::string& what, double wall_s);

  /// One trial less to run: another process has done it.
  void skipped() { --total_; }

  /// A line of its own, which stays.
  void note(const std::string& text);

  /// Draws at most ten times a second; nothing when not on a terminal.
  void refresh(bool now = false);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    std::string label;
    Clock::time_point start;
    long step = 0, steps = 0;
    double loss = 0, dev_accuracy = -1;
  };

  void erase();
  std::string total_line() const;
  std::string line(const Running& trial) const;
  static double seconds_left(const Running& trial);  ///< 0 before the first step

  std::FILE* to_;
  bool live_;
  int total_, jobs_, done_ = 0, failed_ = 0;
  int drawn_ = 0;  ///< lines on the screen that the next drawing replaces
  double finished_wall_s_ = 0;
  Clock::time_point start_, last_;
  std::map<int, Running> running_;
};

}  // namespace ablate
