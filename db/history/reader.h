// The run history, opened for reading only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/history/files_beside.h"
#include "db/types/records.h"

namespace SQLite {
class Database;
}

namespace ablate::db {

/// Snapshot of a history: later writes are not visible. Throws Error if the file is missing (with remedies), no run history, of
/// another schema, or locked.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file);
  ~Reader();

  const std::filesystem::path& file() const { return file_; }
  SQLite::Database& database() const { return *database_; }
  /// Removes the limit on SQLite's steps, for checks of the whole file and for a person's query, which Ctrl-C can end. Other
  /// queries end with an Error after more steps than a sound file of this size needs: anybody may have written the file.
  void read_without_limit() const;

  /// Returns the id of an experiment. Throws Error with the nearest name.
  std::int64_t experiment(const std::string& name) const;
  std::vector<std::string> experiments() const;
  /// Returns the study file of an experiment's latest run; "" if there is no such experiment.
  std::string study_file(const std::string& experiment) const;
  std::string study_text(const std::string& experiment) const;  ///< content of that file at the time of the run
  std::vector<std::string> study_overrides(const std::string& experiment) const;  ///< overrides of the same run

  /// Returns the latest stored verdict of `ablate check` on a plugin's code; nullopt if there is none.
  std::optional<KnownVerdict> verdict(const UsedPlugin& plugin) const;

  /// True if an attempt has used a plugin's code.
  bool has_run(const UsedPlugin& plugin) const;

  /// Returns the ids of all parameters of all trials, by path.
  std::map<std::string, std::int64_t> paths() const;

  /// Records that a row is left out, because its content cannot be read: another program may have written the file.
  /// `kind` is the kind of the row, such as "attempt". `what` is the unreadable part.
  void leave_out(const std::string& kind, std::int64_t number, const std::string& what) const;
  /// Returns lines like "attempts 3, 4 are left out: the key's parts cannot be read (...)".
  std::vector<std::string> left_out() const;

  struct StoredMetric : MetricInfo {
    std::int64_t id = 0;
  };
  std::vector<StoredMetric> metrics() const;
  /// Returns the metric of that name. For a group's name without a value, such as test/accuracy@pairs, returns the metrics of
  /// all its values. Throws Error with the nearest names: for a name without a domain, that name in all domains. If no name
  /// is near, the error lists all metrics without a group.
  std::vector<StoredMetric> metrics_named(const std::string& name) const;

 private:
  std::string of_study(const char* column, const std::string& experiment) const;

  std::filesystem::path file_;
  FilesBeside beside_;
  std::unique_ptr<std::int64_t> strides_left_;  ///< on the heap, because SQLite has its address
  std::unique_ptr<SQLite::Database> database_;
  mutable std::map<std::pair<std::string, std::string>, std::set<std::int64_t>> left_out_;  ///< row numbers by kind and part
};

}  // namespace ablate::db
