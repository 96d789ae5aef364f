// What the run history is made of, as those who write and those who read it see it. No SQLite.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/records/curve_point.h"
#include "core/records/example_rows.h"
#include "core/records/metric.h"
#include "core/records/used_plugin.h"
#include "core/util/lazy.h"

namespace ablate::db {

struct Experiment {
  std::string name, description, file, text;
  std::vector<std::string> overrides;
  std::int64_t listed_us = 0;  ///< when its grid was made, since 1970, UTC; 0: now
};

/// What the conformance suite has said last of a plugin's code.
struct KnownVerdict {
  UsedPlugin plugin;           ///< its kind, id, code_identity and verdict, "passed" or "failed"; the rest does not count
  std::int64_t suite = 0;      ///< the suite's version
  std::int64_t checked_s = 0;  ///< seconds since 1970, UTC
};

/// What an audit has found in a data set.
struct Audit {
  std::string digest;                                    ///< of the data
  std::string task;                                      ///< the plugin's id
  nlohmann::json parameters = nlohmann::json::object();  ///< of the task: those that differ from their defaults
  std::int64_t suite = 0;                                ///< version of what looked
  std::int64_t audited_s = 0;                            ///< seconds since 1970, UTC
  std::string verdict;                                   ///< "passed" or "failed"
  nlohmann::json findings = nlohmann::json::array();     ///< [{"check", "on", "verdict", "found", ...}], as the audit told them
};

/// What predictors of a few lines get on the test examples that some trials of a task are asked, from those that they train on.
struct KnownFloors {
  std::string digest;                               ///< of the data
  nlohmann::json task = nlohmann::json::object();   ///< the whole section, as a trial's document has it
  ExampleRows rows = {};                            ///< lanes 0: trials of any batch train on these
  std::int64_t version = 0;                         ///< of the predictors
  std::int64_t found_s = 0;                         ///< seconds since 1970, UTC
  std::string metric;                               ///< "test/accuracy"
  std::int64_t examples = 0, train_size = 0;        ///< of test that were asked, of train in all; of a stream places
  std::int64_t seen = 0;                            ///< of train that trials train on
  nlohmann::json floors = nlohmann::json::array();  ///< [{"name", "how", "value", "trained"}], as FoundFloors has them
  std::vector<std::string> left_out;                ///< predictors for which no time was left: any may be the strongest
};

/// A file that a history keeps of an attempt, in a folder beside it (db/history/artifacts.h).
struct Artifact {
  std::string kind;           ///< "output", "weights" or "checkpoints"
  std::int64_t bytes = 0;     ///< of the file
  std::int64_t of_bytes = 0;  ///< that there were: more than `bytes` where the rest was cut
  std::string name = {};      ///< "": the one that an attempt has of this kind, by its uid
};

/// One attempt at a trial, however it ended.
struct Attempt {
  std::string uid;         ///< 32 hex digits, by which it is known in every history, and its files are named; "": one is drawn
  std::string key;         ///< of its trial
  std::int64_t fence = 0;  ///< of the lease under which it runs (lease.h); 0: none. Not kept
  /// Its scheduler tries the trial once more, whatever the outcome says: the lease ends as one that was given back. Not kept.
  bool is_tried_again = false;
  /// Trial::resolved of what was trained; null: as put_trials had it. Where the attempt is done, the trial's settings are
  /// these: two of one key differ in what changes no number (a file's place), or in what --prove took for the same.
  nlohmann::json resolved = nullptr;
  std::string outcome;  ///< a name of core/records/outcome.h; a newer history may have others
  std::string reason;   ///< "" when done; else one line: "signal 11 (Segmentation fault)", "loss is nan at step 12", ...
  std::string output;   ///< the tail of what the trial printed
  std::int64_t started_us = 0;  ///< microseconds since 1970, UTC
  double wall_s = 0, cpu_s = 0;
  std::int64_t peak_resident_bytes = 0;
  std::int64_t step = 0, steps = 0;  ///< how far it got, of how many; 0: it has not said
  std::optional<int> signal, exit_code;
  /// host, git, compiler, torch, processor, GPUs, library versions, variables (docs/database.md): one row each distinct object
  nlohmann::json environment;
  std::vector<UsedPlugin> plugins;
  std::map<std::string, double> results;  ///< final values, by metric
  /// Of the results the one that the trial is judged by, as its task has it: "test/bits_per_byte". "": it does not say.
  std::string main_metric;
  std::vector<CurvePoint> curve;
  std::vector<Artifact> artifacts;
};

/// What attempts at a trial came to that is not done.
struct PastTries {
  std::vector<std::string> outcomes;  ///< the latest last
  std::int64_t peak_bytes = 0;        ///< the most that one of them held resident; 0: not known
};

/// A trial in the grid of an experiment.
struct GridTrial {
  std::string key;
  Lazy<nlohmann::json> resolved;          ///< Trial::resolved; asked for where the history does not know the trial
  std::optional<std::int64_t> cell = {};  ///< Trial::cell: of a study that chooses values by dev
  bool tunes = false;                     ///< Trial::tunes
};

/// How the history stores the cell of a trial that tunes: below -1. And back.
constexpr std::int64_t tuning_cell(std::int64_t cell) { return -2 - cell; }

/// What a paper reports for a trial.
struct PublishedValue {
  std::string key;  ///< of the trial
  std::string metric;
  double value;
  std::string source;
};

/// A trial that an attempt is being made at.
struct RunningTrial {
  std::string key;
  std::int64_t started_us = 0;  ///< microseconds since 1970, UTC
  std::int64_t step = 0, steps = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< the latest train/loss; NaN: none yet
};

/// Another process that says it is running trials.
struct OtherRun {
  std::string host;
  std::int64_t process = 0;
  bool is_here = false;  ///< on this host, and alive; of another's processes nobody here can tell
  int trials = 0;
};

}  // namespace ablate::db
