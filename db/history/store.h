// The run history in SQLite: what is written. The only writer is the scheduler's process; questions are in db/questions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/history/errors.h"
#include "db/types/lineage.h"
#include "db/types/records.h"

namespace ablate::db {

/// Every call throws Unavailable where the file is locked, full or unreadable for the moment, and Gone where it is no longer
/// the file that was opened. Not thread-safe.
class Store {
 public:
  /// Opens for writing; creates and migrates as needed. Throws ablate::Error: the file is no database, is damaged (looked at up
  /// to 20 MB), is newer than this program (schema found and expected), cannot be written, or is no regular file.
  explicit Store(const std::filesystem::path& file);
  ~Store();
  Store(Store&&) noexcept;

  /// Absolute.
  const std::filesystem::path& file() const;

  /// How long a call waits for another process's lock before it throws Unavailable; kUsualPatienceMs unless set.
  void set_patience(int milliseconds);

  /// Writes everything that this connection sees into a new database file, also where its own file was removed or replaced.
  /// Of a file that is gone no log stays behind, which would spoil the next one in its place.
  /// Throws Error where `file` exists or cannot be written, or where too little is left of the own file.
  void rescue(const std::filesystem::path& file);

  /// All that `writes` writes, by other calls, as one transaction: where it throws, nothing is written.
  void together(const std::function<void()>& writes);

  /// Called before each of many rows, with how many are written. It may throw, and then nothing is.
  using Tick = std::function<void(std::size_t done)>;

  /// Remembers an experiment by name (the latest description, file and text win). @return its id
  std::int64_t put_experiment(const Experiment& experiment);

  /// Remembers a trial and that it belongs to an experiment, in grid order. Idempotent. All in one transaction.
  /// @param trials in order; an experiment's earlier trials that are not among them stay.
  void put_trials(std::int64_t experiment, const std::vector<GridTrial>& trials, const Tick& tick = {});

  /// Remembers what papers report for trials of an experiment, in place of what was remembered for it before. The trials must
  /// be known; at most one value for a trial and a metric.
  void put_published(std::int64_t experiment, const std::vector<PublishedValue>& values);

  /// Those of the keys that have an attempt with outcome "done", in any experiment, also by a proof.
  std::set<std::string> done(const std::vector<std::string>& keys);

  /// Remembers what the keys of known trials are made of; and that trials have other keys as well.
  void put_parts(const std::vector<std::pair<std::string, Identity>>& parts, const Tick& tick = {});
  std::int64_t put_proof(const Proof& proof);  ///< @return its number; 0: another one has given all its keys
  /// Takes a proof back, with the keys that it gave, and what rests on them. Throws Error for a number that is none's.
  Withdrawn withdraw_proof(std::int64_t number);

  void put_metrics(const std::vector<MetricInfo>& metrics);

  /// One transaction: the attempt with all its values, or nothing. The trial must be known. @return the attempt's number
  std::int64_t put_attempt(const Attempt& attempt);

  /// Of each code the latest verdict of the latest suite stays.
  void put_verdicts(const std::vector<KnownVerdict>& verdicts);

  /// Of each task's data the latest audit stays.
  void put_audit(const Audit& audit);
  /// What is known of a task's data; nothing where nobody has audited them.
  std::optional<Audit> audit(const std::string& digest, const std::string& task);

  /// What this process is running now, in place of what it said before: for `ablate attempts`. At its end: put_running({}).
  /// Also forgets what processes of this machine that are dead were running.
  void put_running(const std::vector<RunningTrial>& trials);

  /// The other processes that say they are running trials of these keys now. What a process runs it says about once a second,
  /// from its first trial on: one that still loads its data is not seen. One of this host that is dead is left out, by its
  /// number and start.
  std::vector<OtherRun> others_running(const std::set<std::string>& keys);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ablate::db
