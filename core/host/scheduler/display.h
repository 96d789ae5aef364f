// How a running grid looks: live lines on a terminal, plain lines elsewhere. What cannot be written is left out: a full disk or
// a terminal that takes none ends no grid, and delays none.
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
  /// Trials to come, besides those that run here: runs that have not begun.
  struct Rest {
    std::size_t waiting = 0, elsewhere = 0;  ///< elsewhere: other schedulers run them now
  };

  /// @param rest asked whenever a line tells how many there are in all @param silence_s after which a line says that a trial
  /// has told nothing; where it is no terminal, also the time between two lines about a trial
  Display(Output& to, const Clock& clock, std::function<Rest()> rest, double silence_s);
  ~Display();

  /// @param evaluation its part of the trial's work, in [0, 1]
  void started(int job, const std::string& label, double evaluation = 0);
  void progress(int job, const Progress& now);
  /// @param outcome one of core/records/outcome.h @param what the main result or the reason
  /// @param counts it is this run's, and final
  void ended(int job, const std::string& outcome, const std::string& what, double wall_s, bool counts = true);

  /// Another run's result is recorded: no other trial of the total has come to its end.
  void ended_late(int job, const std::string& what, double wall_s);

  /// It could not be started yet.
  void taken_back(int job) { running_.erase(job); }

  /// A line of its own, which stays.
  void note(const std::string& text);

  /// On a terminal draws, at most ten times a second; elsewhere writes a line about each trial that had none for long.
  void refresh(bool now = false);

 private:
  struct Running {
    std::string label;
    double start_s;  ///< times by the clock
    double evaluation = 0;
    std::int64_t step = 0, steps = 0;
    double loss = 0;
    std::string dev;  ///< "dev 71.1 %"; "": not evaluated yet
    double told_s;    ///< when a line last spoke of it
    double heard_s;   ///< when its step or its results last changed
  };

  /// What takes the live lines away; they are gone once it is written.
  std::string erasing() const;
  void draw();
  void tell_silent(double now_s);
  /// In the place of the live lines.
  void write(const std::string& text);
  /// Ended and to come.
  std::size_t total(const Rest& rest) const { return done_ + running_.size() + rest.waiting + rest.elsewhere; }
  std::string total_line(const Rest& rest) const;
  std::string line(const Running& trial) const;
  double seconds_left(const Running& trial) const;  ///< 0 before the first step

  Output& to_;
  const Clock& clock_;
  bool live_;
  std::function<Rest()> rest_;
  std::size_t done_ = 0, failed_ = 0;  ///< runs of trials
  double silence_s_;
  int drawn_ = 0;  ///< lines on the screen that the next drawing replaces
  double start_s_;
  std::optional<double> last_s_;  ///< drawn, or looked for silent ones
  std::map<int, Running> running_;
};

}  // namespace ablate
