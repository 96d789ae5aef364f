// Results on their way into the database, whatever becomes of it while a grid runs.
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

/// A call never waits for long: what cannot be written now (another process's lock, a full disk) waits here and is tried again,
/// while trials go on. Where the file is gone or damaged, a copy of it is made beside it, and what follows goes there. Where
/// that fails, what this run still has goes into a new history, and the damaged file, which has the rest, stays as it is.
class Recorder {
 public:
  using Note = std::function<void(const std::string&)>;

  /// @param describe writes the study and its trials: for a file that has to be begun anew; may be empty
  /// @param written called with each attempt that ran under a lease, once it is in a file, and whether it was in time: a late
  /// one does not count (db/history/late_attempt.h); may be empty
  Recorder(db::GridStore& store, const Surroundings& outside, std::function<void(db::GridStore&)> describe, Note note,
           std::function<void(const db::Attempt& attempt, bool in_time)> written = {});
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Writes the study and its trials, for which it waits as long as anybody does: nothing has begun yet. Throws Error.
  void begin();

  /// Definitions that are known already are not written again. @return "" where it is in a file now, else what a line about the
  /// trial has to end with: "; waits to be written", "; came late"
  std::string put(const db::Attempt& attempt, const std::vector<MetricInfo>& metrics);

  /// Down to db::kMostOutputBytes. @return what is gone; nothing where the database cannot be asked now
  db::KeptFiles limit_output();

  /// As GridStore has it, down to db::kMostCheckpointBytes. Nothing where the database cannot be asked now, or is gone.
  db::KeptFiles tidy_checkpoints(const std::set<std::string>& running);
  void remove_checkpoints(const std::string& key);

  /// Calls f with where everything goes. @return false where that cannot be asked or written now; f may have been called then
  bool use(const std::function<void(db::GridStore&)>& f);

  /// Whether a second has gone by since what runs was shown.
  bool is_to_show() const;
  /// What runs now, for `ablate attempts`. Best effort.
  void show_running(const std::vector<db::RunningTrial>& trials);

  /// Tries again what waits.
  void retry();

  /// Until nothing waits, and nothing runs any more. @param give_up asked several times a second: then what waits goes into a
  /// new file, too
  void finish(const std::function<bool()>& give_up);

  /// Whether everything goes elsewhere: the database is gone.
  bool is_elsewhere() const { return !rescued_.empty(); }
  /// Where that goes; "" while the database is there.
  const std::filesystem::path& rescued() const { return rescued_; }
  /// For the user, once it is gone: why, what is in which file, and what to do with them.
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
  void tell_delay(const std::string& why);
  void write(db::GridStore& to, const db::Attempt& attempt);
  void tell_unlike(db::GridStore& in, const std::string& key);

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
  bool has_told_unlike_ = false;  ///< one warning a run is enough
  bool has_leases_ = true;        ///< where everything goes: a file that was begun anew has none
  std::filesystem::path rescued_;
  std::string why_;
  std::string uncopied_;   ///< why the history is not in rescued_; "" where it is
  std::size_t apart_ = 0;  ///< finished trials that are in rescued_ alone
  std::size_t lost_ = 0, late_ = 0;
};

}  // namespace ablate
