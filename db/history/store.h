// The run history in SQLite, opened for writing. Only the scheduler's process writes; queries are in db/questions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/history/grid_store.h"
#include "db/history/merge.h"
#include "db/history/other_history.h"
#include "db/types/imported.h"
#include "db/types/lineage.h"
#include "db/types/records.h"

namespace ablate::db {

struct StoreFile;

/// GridStore in a file, with further writes. Not thread-safe.
class Store final : public GridStore {
 public:
  /// Opens for writing; creates and migrates as needed. Throws Error if the file is no database, cannot be written, is no
  /// regular file, has a newer schema (the message has both), or is damaged. Checks only the length of a file above 20 MB.
  explicit Store(const std::filesystem::path& file);
  ~Store() override;
  Store(Store&&) noexcept;

  const std::filesystem::path& file() const override;
  void set_patience(int milliseconds) override;
  void rescue(const std::filesystem::path& file) override;
  std::unique_ptr<GridStore> open(const std::filesystem::path& file) const override { return std::make_unique<Store>(file); }
  void together(const std::function<void()>& writes) override;

  std::int64_t put_experiment(const Experiment& experiment) override;
  void put_trials(std::int64_t experiment, const std::vector<GridTrial>& trials) override;
  void put_published(std::int64_t experiment, const std::vector<PublishedValue>& values) override;
  void put_parts(const std::vector<std::pair<std::string, Identity>>& parts) override;
  void put_metrics(const std::vector<MetricInfo>& metrics) override;
  void put_verdicts(const std::vector<KnownVerdict>& verdicts) override;

  std::set<std::string> done(const std::vector<std::string>& keys) override;
  std::map<std::string, PastTries> tries(const std::vector<std::string>& keys) override;
  std::int64_t put_attempt(const Attempt& attempt) override;
  std::string unlike_numbers(const std::string& key) override;
  KeptFiles limit_output(std::uintmax_t most_bytes) override;
  KeptFiles tidy_checkpoints(const std::set<std::string>& running, std::uintmax_t most_bytes) override;
  void remove_checkpoints(const std::string& key) override;
  void put_running(const std::vector<RunningTrial>& trials) override;
  std::int64_t add_owner(const std::function<bool(std::int64_t slot)>& take, const Meet& meet) override;
  void put_worker(std::int64_t slot, std::int64_t worker, std::int64_t started) override;
  void remove_owner(std::int64_t slot, const std::function<void()>& last) override;
  LeaseAnswer take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                         const IsOver& is_over) override;
  void give_back(const std::string& key, std::int64_t fence) override;
  bool put_leased(const Attempt& attempt) override;
  Leases leases() override;

  std::int64_t put_proof(const Proof& proof);  ///< returns the proof's number
  /// Deletes a proof, and returns the number of trials that are no longer done. Throws Error if no proof has this number.
  std::int64_t delete_proof(std::int64_t number);

  /// Copies all that is new in another history (docs/database.md), or nothing if merge() throws. Idempotent, and the order
  /// of several merges does not matter. Then copies missing files of the other history's attempts if they exist and the disk
  /// has room. A repeated merge copies files that an earlier merge missed. Throws Error if content of the other file cannot be
  /// read, and Interrupted on a signal.
  Merged merge(const OtherHistory& other);

  /// Imports trials that ran elsewhere and are not here yet (db/history/imports.h). If import() throws, nothing is imported.
  Imported import(const ImportedFile& file);

  /// Returns the keys whose trials have kept weights.
  std::set<std::string> with_weights(const std::vector<std::string>& keys);

  /// Replaces the earlier audit of the same task's data.
  void put_audit(const Audit& audit);
  /// Returns the audit of a task's data; nullopt if there is none.
  std::optional<Audit> audit(const std::string& digest, const std::string& task);

  /// Replaces the earlier floors of the same data, task and rows.
  void put_floors(const KnownFloors& floors);
  /// Returns the floors; nullopt if there are none.
  std::optional<KnownFloors> floors(const std::string& digest, const nlohmann::json& task, const ExampleRows& rows);

 private:
  /// Removes files of attempts. Records and counts the removed files.
  KeptFiles remove(const std::vector<ArtifactFile>& files);

  std::unique_ptr<StoreFile> implementation_;
};

}  // namespace ablate::db
