// Histories in memory, on a disk whose failures a script decides. For tests of the scheduler.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "db/history/grid_store.h"
#include "tests/support/simulated_clock.h"

namespace ablate::simulated {

/// The latest lease of a trial.
struct LeaseRow {
  std::int64_t fence = 0, slot = 0;
  std::optional<std::string> outcome;  ///< nullopt: the trial is still leased
};

/// Contents of a file.
struct History {
  std::vector<std::string> experiments;  ///< an id is the position, from 1
  std::vector<std::string> trials;       ///< keys, each once
  std::vector<db::Attempt> attempts;     ///< an id is the position, from 1
  std::map<std::string, MetricInfo> metrics;
  std::map<int, std::vector<db::RunningTrial>> running;  ///< running trials by process
  std::map<std::int64_t, db::LeaseOwner> owners;         ///< owners by slot
  std::map<std::int64_t, double> heard_s;                ///< time of the last sign of life, by slot
  std::map<std::string, LeaseRow> leases;                ///< latest leases by key
  std::int64_t slots = 0, fences = 0;                    ///< highest numbers assigned so far

  /// Returns the outcomes of the attempts at a trial.
  std::vector<std::string> outcomes(const std::string& key) const;
};

/// A disk, possibly shared by several schedulers.
struct Disk {
  explicit Disk(SimulatedClock& time) : clock(time) {}

  SimulatedClock& clock;
  std::map<std::filesystem::path, History> files;
  const void* writer = nullptr;  ///< store with an open transaction
  /// Called with the history's file before each call of a store. If it throws, the store's call fails with that error. A call
  /// that fails with Unavailable first waits as long as set_patience() allows.
  std::function<void(const std::filesystem::path& file)> fails = [](const std::filesystem::path&) {};
};

class MemoryStore : public db::GridStore {
 public:
  /// @param process number of the process whose running trials this store records
  MemoryStore(Disk& disk, std::filesystem::path file, int process = 1);

  const std::filesystem::path& file() const override { return file_; }
  void set_patience(int milliseconds) override { patience_ms_ = milliseconds; }
  void rescue(const std::filesystem::path& file) override;
  std::unique_ptr<GridStore> open(const std::filesystem::path& file) const override;
  void together(const std::function<void()>& writes) override;
  std::int64_t put_experiment(const db::Experiment& experiment) override;
  void put_trials(std::int64_t experiment, const std::vector<db::GridTrial>& trials) override;
  void put_published(std::int64_t experiment, const std::vector<db::PublishedValue>& values) override;
  void put_parts(const std::vector<std::pair<std::string, Identity>>& parts) override;
  void put_metrics(const std::vector<MetricInfo>& metrics) override;
  void put_verdicts(const std::vector<db::KnownVerdict>& verdicts) override;
  std::set<std::string> done(const std::vector<std::string>& keys) override;
  std::map<std::string, db::PastTries> tries(const std::vector<std::string>& keys) override;
  std::int64_t put_attempt(const db::Attempt& attempt) override;
  void put_running(const std::vector<db::RunningTrial>& trials) override;
  std::int64_t add_owner(const std::function<bool(std::int64_t slot)>& take, const Meet& meet) override;
  void put_worker(std::int64_t slot, std::int64_t worker, std::int64_t started) override;
  void remove_owner(std::int64_t slot, const std::function<void()>& last) override;
  db::LeaseAnswer take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                             const IsOver& is_over) override;
  void give_back(const std::string& key, std::int64_t fence) override;
  bool put_leased(const db::Attempt& attempt) override;
  db::Leases leases() override;

 private:
  /// Returns the file's contents, unless the disk throws.
  History& history();
  bool knows(const std::string& key);

  Disk& disk_;
  std::filesystem::path file_;
  int process_;
  int patience_ms_ = db::kUsualPatienceMs;
};

}  // namespace ablate::simulated
