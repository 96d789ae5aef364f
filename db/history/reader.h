// The run history opened for reading only, and the names in it.
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

/// A snapshot: what others write while it lives is not seen. Throws ablate::Error: no such file (what makes one, how to point
/// elsewhere), no run history, another schema, locked.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file);
  ~Reader();

  const std::filesystem::path& file() const { return file_; }
  SQLite::Database& database() const { return *database_; }
  /// For a question that a person has written and can end by Ctrl-C. All others end with an Error where they take more steps
  /// than a file of that size can ask for: it may be of anybody.
  void read_without_limit() const;

  /// The id of an experiment. Throws Error with the nearest name.
  std::int64_t experiment(const std::string& name) const;
  std::vector<std::string> experiments() const;
  /// The study file of an experiment's latest run; "" where there is no such experiment.
  std::string study_file(const std::string& experiment) const;
  std::string study_text(const std::string& experiment) const;                    ///< what that file held then
  std::vector<std::string> study_overrides(const std::string& experiment) const;  ///< of the same run

  /// What `ablate check` has said last of a plugin's code, as runs and checks have brought it here; nothing where none has.
  std::optional<KnownVerdict> verdict(const UsedPlugin& plugin) const;

  /// True if an attempt has used a plugin's code.
  bool has_run(const UsedPlugin& plugin) const;

  /// All parameters of all trials, by path: ids.
  std::map<std::string, std::int64_t> paths() const;

  /// Says of rows that they are left out, since what they hold cannot be read: a file may be of another program.
  /// @param kind of what the number is one, "attempt" @param what of it
  void leave_out(const std::string& kind, std::int64_t number, const std::string& what) const;
  /// A line each: "attempts 3, 4 are left out: what the key is made of cannot be read (...)".
  std::vector<std::string> left_out() const;

  struct StoredMetric : MetricInfo {
    std::int64_t id = 0;
  };
  std::vector<StoredMetric> metrics() const;
  /// The metric of that name; of a group's name without a value, as test/accuracy@pairs, those of all its values. Throws Error
  /// with the nearest names: of a name without its domain those in all domains; where none is near, with all that are over no
  /// group.
  std::vector<StoredMetric> metrics_named(const std::string& name) const;

 private:
  std::string of_study(const char* column, const std::string& experiment) const;

  std::filesystem::path file_;
  FilesBeside beside_;
  std::unique_ptr<std::int64_t> strides_left_;  ///< behind a pointer, since SQLite has its address
  std::unique_ptr<SQLite::Database> database_;
  mutable std::map<std::pair<std::string, std::string>, std::set<std::int64_t>> left_out_;  ///< by kind, and what of it
};

}  // namespace ablate::db
