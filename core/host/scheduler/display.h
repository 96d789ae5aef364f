// Display of a running grid: live lines on a terminal, plain lines elsewhere. Output that cannot be written is dropped. A full
// disk or a stopped terminal neither ends nor delays a grid.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/shared/messages.h"
#include "core/util/clock.h"
#include "core/util/output.h"

namespace ablate {

class Display {
 public:
  /// Trials that have not begun here.
  struct Rest {
    std::size_t waiting = 0, elsewhere = 0;  ///< elsewhere: other schedulers run them now
  };

  /// @param rest called before each line that shows the total number of trials
  /// @param silence_s a trial counts as silent after this time; without a terminal, also the time between two lines about it
  Display(Output& to, const Clock& clock, std::function<Rest()> rest, double silence_s);
  ~Display();

  /// @param evaluation evaluation's part of the trial's work, in [0, 1]
  void started(int job, const std::string& label, double evaluation = 0);
  void progress(int job, const Progress& now);
  /// Writes the end of a trial, with an outcome of core/records/outcome.h, and the main result or the reason. `counts` is false
  /// if the trial runs again here, so that a failure does not count.
  void ended(int job, const std::string& outcome, const std::string& what, double wall_s, bool counts = true);

  /// Writes the end of a trial whose result came late. The end is not counted, because another scheduler's result counts.
  void ended_late(int job, const std::string& what, double wall_s);

  /// Removes a trial that could not be started yet.
  void taken_back(int job) { running_.erase(job); }

  /// Writes a separate line, which stays.
  void note(const std::string& text);

  /// On a terminal, draws at most ten times a second. Elsewhere, writes a line about each trial without a recent line.
  void refresh(bool now = false);

 private:
  struct Running {
    std::string label;
    double start_s;  ///< times of the clock
    double evaluation = 0;
    std::int64_t step = 0, steps = 0;
    double loss = 0;
    std::string dev;       ///< "dev 71.1 %"; "": not evaluated yet
    double last_line_s;    ///< time of the latest line about it
    double last_change_s;  ///< time of the latest change of its step or its results
  };

  /// Returns the text that erases the live lines. The lines count as gone once this text is written.
  std::string erasing() const;
  void draw();
  void report_silent(double now_s);
  /// Replaces the live lines by the text.
  void write(const std::string& text);
  /// All trials: ended, running, and to come.
  std::size_t total(const Rest& rest) const { return done_ + running_.size() + rest.waiting + rest.elsewhere; }
  std::string total_line(const Rest& rest) const;
  std::string line(const Running& trial) const;
  double seconds_left(const Running& trial) const;  ///< 0 before the first step

  Output& to_;
  const Clock& clock_;
  bool live_;
  std::function<Rest()> rest_;
  std::size_t done_ = 0, failed_ = 0;  ///< ended runs of trials, and how many of them failed
  double silence_s_;
  int drawn_ = 0;  ///< lines on the screen that the next drawing replaces
  double start_s_;
  std::optional<double> last_s_;  ///< time of the latest drawing, or search for silent trials
  std::map<int, Running> running_;
};

}  // namespace ablate
