// What must hold in every simulation, looked at after every step: the invariants.
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

/// The first one that is broken.
struct Broken {
  std::string invariant;  ///< its name; "" while all hold
  std::string what;
};

/// Their names. A test of a planted fault says which of them it breaks.
namespace invariant {
inline constexpr const char* kOwnResult = "a result is its trial's";
inline constexpr const char* kDoneOnce = "a trial is done once";
inline constexpr const char* kOneResult = "a fence has one result, and only the newest fence of a trial";
inline constexpr const char* kNothingLost = "nothing done is lost";
inline constexpr const char* kOneOwner = "two living owners never hold one trial";
inline constexpr const char* kJobs = "no more trials at a time than asked for";
inline constexpr const char* kSummary = "the summary is what the history says";
inline constexpr const char* kEnds = "the grid ends";
inline constexpr const char* kTries = "a trial fails no more often than it is tried";
inline constexpr const char* kBlameless = "a trial that does nothing wrong is done in the end";
inline constexpr const char* kAlone = "what ran out of memory runs beside no other";
inline constexpr const char* kStop = "nothing starts after a request to stop";
inline constexpr const char* kMostFailures = "nothing starts after as many failures as are allowed";
inline constexpr const char* kNotices = "whoever is notified hears of each thing once, and of the end";
inline constexpr const char* kError = "whatever ends a run is an Error with words";
}  // namespace invariant

/// For people.
std::string text_of(const RunSummary& summary);

/// One that lives.
struct Living {
  int scheduler, at_a_time;
  std::set<std::uint64_t> running;  ///< seeds of the trials that its worker runs
};

class Ledger {
 public:
  /// @param disk and scenario outlive it
  Ledger(const simulated::Disk& disk, const Scenario& scenario, std::vector<std::string> keys);

  void breaks(const char* invariant, const std::string& what);
  const Broken& broken() const { return broken_; }

  /// What a scheduler's user reads, a line or several.
  void told(int scheduler, const std::string& text);
  /// It is about to ask the history what is to run.
  void begins(int scheduler, const RunOptions& options);
  /// What --notify is told.
  void notified(int scheduler, const Notice& notice);
  /// Whether it has --max-failures.
  bool limits_failures(int scheduler) const { return most_failures_.at(scheduler) > 0; }
  /// A trial starts: its scheduler could know what befell it before.
  void starts(int scheduler, std::uint64_t seed);
  /// Likewise, where failures are limited. @param summary so far
  void starts(int scheduler, std::uint64_t seed, const RunSummary& summary);
  /// It ended by itself.
  void ended(int scheduler, const RunSummary& summary);
  void ended_by(int scheduler, const Error& error);

  /// After each step. @param have_locks whether those that live could know of each other
  void look(const std::vector<Living>& living, bool have_locks);
  /// Attempts have been brought together in other files.
  void forget_files() { seen_.clear(); }
  /// In the end.
  void look_at_end();

  /// Whether it has an attempt with such an end, in any file.
  bool is_done(int seed) const { return done_.contains(seed); }
  bool was_tried(int seed) const { return tried_.contains(seed); }
  /// Whether it does nothing wrong, is not done, and may be tried again: trouble may have made it fail as often as it is tried.
  bool is_left_undone(int seed) const;

  /// What befell trials and runs so far: outcomes, and why trials did not start.
  const std::set<std::string>& seen() const { return befell_; }

 private:
  void read(const db::Attempt& attempt);
  /// Of one in the history that all share. Where one's results had to go elsewhere, others do not know of them.
  void read_shared(const db::Attempt& attempt, const simulated::History& history);
  void read_try(int seed, int scheduler, int tries);
  void line(int scheduler, const std::string& text);
  void promise(int scheduler, int seed);
  void promise_waiting(int scheduler);
  /// Attempts that the summary does not count, since they ran again alone. One that came late is none that counts.
  int uncounted(int scheduler) const;
  int seed_of(const std::string& key) const;

  const simulated::Disk& disk_;
  const Scenario& scenario_;
  std::map<std::string, int> seeds_;  ///< by key
  Broken broken_;
  std::set<int> with_again_;                 ///< schedulers
  std::map<std::string, std::size_t> seen_;  ///< attempts by file
  std::set<std::string> uids_;               ///< of attempts that were read
  std::set<int> done_;                       ///< seeds, in any file
  std::map<int, int> shared_;                ///< how often done, by seed, in the history that all share
  std::set<std::int64_t> fences_;            ///< of results in it
  std::set<int> tried_;                      ///< seeds
  /// Attempts that count among a trial's tries: in all files; in the shared one, of schedulers without --again, and of each
  /// with it.
  std::map<int, int> failed_, shared_failed_;        ///< by seed
  std::map<std::pair<int, int>, int> failed_again_;  ///< by scheduler and seed
  std::map<int, std::map<std::string, int>> by_;     ///< attempts by scheduler and outcome
  /// By scheduler and seed: of attempts without enough memory, in order, whether each was in time; how many were told; and
  /// which of them, from 1, ran again alone.
  std::map<std::pair<int, int>, std::vector<bool>> of_memory_;
  std::map<std::pair<int, int>, std::size_t> of_memory_told_;
  std::map<std::pair<int, int>, std::size_t> again_alone_;
  std::map<int, std::set<std::uint64_t>> alone_;       ///< by scheduler, the seeds that are to run beside no other
  std::map<int, int> most_failures_;                   ///< by scheduler
  std::map<int, std::map<std::string, int>> notices_;  ///< by scheduler and event
  std::set<std::string> befell_;
  std::map<int, std::set<int>> waiting_;       ///< seeds that wait to be written, by scheduler
  std::vector<std::pair<int, int>> promised_;  ///< scheduler and seed, since the last look
};

}  // namespace ablate::simulation
