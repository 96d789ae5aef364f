// The run history in SQLite: what is written. The only writer is the scheduler's process; questions are in db/table.h and
// db/query.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ablate::db {

/// What a metric's number means. Definitions are stored once, by name.
struct Metric {
  std::string name;         ///< domain/name: "dev/accuracy"
  std::string unit;         ///< "%", "ms", "MiB", "examples/s", "" for a plain number
  std::string direction;    ///< "max", "min" or "": which way is better
  std::string description;  ///< one line
};

struct Experiment {
  std::string name, description, file, text;
  std::vector<std::string> overrides;
};

struct UsedPlugin {
  std::string kind, id, version, code_identity, content_hash, path;
};

/// One run of a trial, however it ended.
struct Attempt {
  std::string key;      ///< of its trial
  std::string outcome;  ///< "done", "failed", "timeout" or "interrupted"
  std::string reason;   ///< "" when done; else one line: "signal 11 (Segmentation fault)", "loss is nan at step 12", ...
  std::string output;   ///< the tail of what the trial printed
  std::int64_t started_us = 0;  ///< microseconds since 1970, UTC
  double wall_s = 0, cpu_s = 0;
  std::int64_t peak_resident_bytes = 0;
  std::optional<int> signal, exit_code;
  nlohmann::json environment;  ///< host, git, compiler, torch, processor, GPU, library versions: one row each distinct object
  std::vector<UsedPlugin> plugins;
  std::map<std::string, double> results;  ///< final values, by metric
  struct Point {
    std::string metric;
    std::int64_t step;
    double value;
  };
  std::vector<Point> curve;
};

/// What a paper reports for a trial.
struct PublishedValue {
  std::string key;  ///< of the trial
  std::string metric;
  double value;
  std::string source;
};

/// Throws ablate::Error: the file is no database, is newer than this program (schema found and expected), is locked, is
/// unwritable.
class Store {
 public:
  /// Opens for writing; creates and migrates as needed. ":memory:" for tests.
  explicit Store(const std::filesystem::path& file);
  ~Store();
  Store(Store&&) noexcept;

  /// Remembers an experiment by name (the latest description, file and text win). @return its id
  std::int64_t put_experiment(const Experiment& experiment);

  /// Remembers a trial and that it belongs to an experiment, in grid order. Idempotent. All in one transaction.
  /// @param trials (key, Trial::resolved), in order; an experiment's earlier trials that are not among them stay.
  void put_trials(std::int64_t experiment, const std::vector<std::pair<std::string, nlohmann::json>>& trials);

  /// Remembers what papers report for trials of an experiment, in place of what was remembered for it before. The trials must
  /// be known; at most one value for a trial and a metric.
  void put_published(std::int64_t experiment, const std::vector<PublishedValue>& values);

  /// Those of the keys that have an attempt with outcome "done", in any experiment.
  std::set<std::string> done(const std::vector<std::string>& keys);

  void put_metrics(const std::vector<Metric>& metrics);

  /// One transaction: the attempt with all its values, or nothing. The trial must be known. @return the run's number
  std::int64_t put_attempt(const Attempt& attempt);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ablate::db
