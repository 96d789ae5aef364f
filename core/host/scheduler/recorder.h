// Writes results into the database, and keeps them if the database fails while a grid runs.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <set>

#include "core/host/scheduler/surroundings.h"
#include "db/history/grid_store.h"

namespace ablate {

/// A call never waits for long. If a result cannot be written now (another process's lock, a full disk), the Recorder keeps
/// it and tries again, while trials continue. If the database is gone or damaged, it is copied to a file beside it, and later
/// results go into the copy. If copying fails, waiting results go into a new history, and the damaged file stays unchanged.
class Recorder {
 public:
  using Note = std::function<void(const std::string&)>;

  /// @param describe writes the study and its trials into a new file; may be empty
  /// @param written called with each leased attempt once it is in a file. `in_time` is false for a late attempt, which does not
  /// count (db/history/late_attempt.h). May be empty
  Recorder(db::GridStore& store, const Surroundings& outside, std::function<void(db::GridStore&)> describe, Note note,
           std::function<void(const db::Attempt& attempt, bool in_time)> written = {});
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Writes the study and its trials. Waits long for locks, because no trial has started yet. Throws Error.
  void begin();

  /// Writes an attempt, and the definitions of new metrics. Returns "" if the attempt is in a file and counts, else the end of
  /// a line about the trial: "; waits to be written", "; came late"
  std::string put(const db::Attempt& attempt, const std::vector<MetricInfo>& metrics);

  /// Limits output files to db::kMostOutputBytes. Returns the removed files; nothing if the database is unavailable or gone.
  db::KeptFiles limit_output();

  /// Calls GridStore::tidy_checkpoints with db::kMostCheckpointBytes. Returns nothing if the database is unavailable or gone.
  db::KeptFiles tidy_checkpoints(const std::set<std::string>& running);
  void remove_checkpoints(const std::string& key);

  /// Calls f with the store in use. Returns false if the store is unavailable, possibly after a call of f.
  bool use(const std::function<void(db::GridStore&)>& f);

  /// True if a second has passed since show_running().
  bool is_to_show() const;
  /// Stores the running trials for `ablate attempts`. Best effort.
  void show_running(const std::vector<db::RunningTrial>& trials);

  /// Tries again to write waiting results.
  void retry();

  /// Waits until all results are written, then records that no trial runs. Meanwhile calls `give_up` several times a second. If
  /// `give_up` returns true, waiting results go into a new file.
  void finish(const std::function<bool()>& give_up);

  /// True if the database is gone, and all results go into another file.
  bool is_elsewhere() const { return !rescued_.empty(); }
  /// Path of the other file; "" while the database exists.
  const std::filesystem::path& rescued() const { return rescued_; }
  /// Explains to the user why the database is gone, which file has which results, and the next step.
  std::string where_everything_is() const;

 private:
  struct Waiting {
    db::Attempt attempt;
    std::vector<MetricInfo> metrics;
  };

  db::GridStore& store() { return rescue_ ? *rescue_ : store_; }
  void write_waiting(db::GridStore& to);
  void write_running(const std::vector<db::RunningTrial>& trials);
  void rescue(const std::string& why);
  bool rescue_into(const std::filesystem::path& file, bool copy);
  void note_delay(const std::string& why);
  void write(db::GridStore& to, const db::Attempt& attempt);
  void note_unlike(db::GridStore& in, const std::string& key);

  db::GridStore& store_;
  Surroundings outside_;
  std::unique_ptr<db::GridStore> rescue_;
  std::function<void(db::GridStore&)> describe_;
  Note note_;
  std::function<void(const db::Attempt&, bool)> written_;
  std::deque<Waiting> waiting_;
  std::set<std::string> defined_;
  static constexpr double kAtOnce = -std::numeric_limits<double>::infinity();
  double next_try_s_ = kAtOnce, next_note_s_ = kAtOnce, next_show_s_ = kAtOnce;  ///< by the clock
  bool delayed_ = false;
  bool has_noted_unlike_ = false;  ///< limits the warning to once a run
  bool has_leases_ = true;         ///< false in a new file without leases
  std::filesystem::path rescued_;
  std::string why_;
  std::string uncopied_;   ///< why the history is not in rescued_; "" if it is
  std::size_t apart_ = 0;  ///< finished trials that are only in rescued_
  std::size_t lost_ = 0, late_ = 0;
};

}  // namespace ablate
