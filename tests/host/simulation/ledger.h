// The invariants of every simulation, checked after every step.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/host/scheduler/scheduler.h"
#include "core/util/error.h"
#include "tests/host/simulated/store.h"
#include "tests/host/simulation/scenario.h"

namespace ablate::simulation {

/// The first broken invariant.
struct Broken {
  std::string invariant;  ///< name of the invariant; "" while all hold
  std::string what;
};

/// Names of the invariants. The test of a planted fault names the invariants that the fault breaks.
namespace invariant {
inline constexpr const char* kOwnResult = "a result belongs to its trial";
inline constexpr const char* kDoneOnce = "a trial is done once";
inline constexpr const char* kOneResult = "only a trial's newest fence has a result, and only one";
inline constexpr const char* kNothingLost = "no done trial is lost";
inline constexpr const char* kOneOwner = "two living schedulers never own the same trial";
inline constexpr const char* kJobs = "no more trials run at a time than requested";
inline constexpr const char* kSummary = "the summary agrees with the history";
inline constexpr const char* kEnds = "the grid ends";
inline constexpr const char* kTries = "a trial does not fail more often than its tries allow";
inline constexpr const char* kBlameless = "a trial that does nothing wrong is done in the end";
inline constexpr const char* kAlone = "a trial that ran out of memory runs alone";
inline constexpr const char* kStop = "no trial starts after a request to stop";
inline constexpr const char* kMostFailures = "no trial starts after the maximum of failures";
inline constexpr const char* kNotices = "each event, and the end, is notified once";
inline constexpr const char* kError = "an error that ends a run is an Error with a message";
}  // namespace invariant

/// Returns text for error messages.
std::string text_of(const RunSummary& summary);

/// A living scheduler.
struct Living {
  int scheduler, at_a_time;
  std::set<std::uint64_t> running;  ///< seeds of the trials that its worker runs
};

class Ledger {
 public:
  /// The disk and the scenario must outlive the ledger.
  Ledger(const simulated::Disk& disk, const Scenario& scenario, std::vector<std::string> keys);

  void breaks(const char* invariant, const std::string& what);
  const Broken& broken() const { return broken_; }

  /// Reads one or several lines of a scheduler's output for its user.
  void add_output(int scheduler, const std::string& text);
  /// Records the options of a scheduler that is about to start.
  void begins(int scheduler, const RunOptions& options);
  /// Records a notice that --notify would send.
  void notified(int scheduler, const Notice& notice);
  /// True if the scheduler has --max-failures.
  bool limits_failures(int scheduler) const { return most_failures_.at(scheduler) > 0; }
  /// Records that a trial starts. In a run without --again, the trial must run alone if the history has an attempt at it
  /// that ran out of memory.
  void starts(int scheduler, std::uint64_t seed);
  /// Checks that --max-failures still allows the start of a trial. `summary` is the run's summary so far.
  void starts(int scheduler, std::uint64_t seed, const RunSummary& summary);
  /// Records that the scheduler ended by itself.
  void ended(int scheduler, const RunSummary& summary);
  void ended_by(int scheduler, const Error& error);

  /// Checks the invariants after a step. `have_locks` is true if living schedulers could detect each other.
  void look(const std::vector<Living>& living, bool have_locks);
  /// Forgets how many attempts each file had, because files were merged.
  void forget_files() { seen_.clear(); }
  /// Checks the invariants at the end.
  void look_at_end();

  /// True if a done attempt of this seed is in any file.
  bool is_done(int seed) const { return done_.contains(seed); }
  bool was_tried(int seed) const { return tried_.contains(seed); }
  /// True if the trial is not at fault, is not done, and has tries left. Troubles use up tries, too.
  bool is_left_undone(int seed) const;

  /// Events of trials and runs so far: outcomes, and reasons why trials did not start.
  const std::set<std::string>& seen() const { return befell_; }

 private:
  void read(const db::Attempt& attempt);
  /// Reads an attempt in the shared history. Not called for rescued files, because other schedulers do not see their attempts.
  void read_shared(const db::Attempt& attempt, const simulated::History& history);
  void read_try(int seed, int scheduler, int tries);
  void line(int scheduler, const std::string& text);
  void promise(int scheduler, int seed);
  void promise_waiting(int scheduler);
  /// Returns how many attempts the summary does not count, because their trials ran again alone. Leaves out late attempts.
  int uncounted(int scheduler) const;
  int seed_of(const std::string& key) const;

  const simulated::Disk& disk_;
  const Scenario& scenario_;
  std::map<std::string, int> seeds_;  ///< seeds by key
  Broken broken_;
  std::set<int> with_again_;                 ///< schedulers with --again
  std::map<std::string, std::size_t> seen_;  ///< numbers of attempts read, by file
  std::set<std::string> uids_;               ///< ids of attempts that were read
  std::set<int> done_;                       ///< seeds of done trials, in any file
  std::map<int, int> shared_;                ///< number of done attempts by seed, in the shared history
  std::set<std::int64_t> fences_;            ///< fences of results in the shared history
  std::set<int> tried_;                      ///< seeds with an attempt
  /// Numbers of tries. failed_ counts tries in all files. shared_failed_ counts tries by schedulers without --again in the
  /// shared file, and failed_again_ counts tries by each scheduler with --again in the shared file.
  std::map<int, int> failed_, shared_failed_;        ///< numbers of tries by seed
  std::map<std::pair<int, int>, int> failed_again_;  ///< number of tries by scheduler and seed
  std::map<int, std::map<std::string, int>> by_;     ///< attempts by scheduler and outcome
  /// Attempts that ran out of memory, by scheduler and seed. of_memory_ has an entry for each attempt, in order: false if the
  /// attempt was late. of_memory_shown_ is the number of attempts shown to the user. again_alone_ is the number of the attempt
  /// after which the trial ran again alone, counted from 1.
  std::map<std::pair<int, int>, std::vector<bool>> of_memory_;
  std::map<std::pair<int, int>, std::size_t> of_memory_shown_;
  std::map<std::pair<int, int>, std::size_t> again_alone_;
  std::map<int, std::set<std::uint64_t>> alone_;       ///< by scheduler, the seeds that must run alone
  std::map<int, int> most_failures_;                   ///< --max-failures by scheduler
  std::map<int, std::map<std::string, int>> notices_;  ///< number of notices by scheduler and event
  std::set<std::string> befell_;
  std::map<int, std::set<int>> waiting_;       ///< seeds whose results wait to be written, by scheduler
  std::vector<std::pair<int, int>> promised_;  ///< scheduler and seed of results reported since the last check
};

}  // namespace ablate::simulation
