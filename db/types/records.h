// Records of the run history, for its writers and its readers. No SQLite.
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
#include "core/records/role.h"
#include "core/records/used_plugin.h"
#include "core/util/lazy.h"

namespace ablate::db {

struct Experiment {
  std::string name, description, file, text;
  std::vector<std::string> overrides;
  std::int64_t listed_us = 0;  ///< time at which its grid was made, in microseconds since 1970, UTC; 0: now
};

/// The conformance suite's latest verdict on a plugin's code.
struct KnownVerdict {
  UsedPlugin plugin;           ///< only kind, id, code_identity and verdict ("passed" or "failed") are used
  std::int64_t suite = 0;      ///< the suite's version
  std::int64_t checked_s = 0;  ///< seconds since 1970, UTC
};

/// Findings of an audit in a data set.
struct Audit {
  std::string digest;                                    ///< digest of the data
  std::string task;                                      ///< id of the task's plugin
  nlohmann::json parameters = nlohmann::json::object();  ///< the task's parameters that differ from their defaults
  std::int64_t suite = 0;                                ///< version of the audit
  std::int64_t audited_s = 0;                            ///< seconds since 1970, UTC
  std::string verdict;                                   ///< "passed" or "failed"
  nlohmann::json findings = nlohmann::json::array();  ///< [{"check", "on", "verdict", "found", ...}], as the audit reports them
};

/// Results of simple predictors on trials' test examples. The predictors learn from the examples that these trials train on.
struct KnownFloors {
  std::string digest;                               ///< digest of the data
  nlohmann::json task = nlohmann::json::object();   ///< the whole task section of a trial's document
  ExampleRows rows = {};                            ///< with lanes = 0, trials of any batch size train on these rows
  std::int64_t version = 0;                         ///< version of the predictors
  std::int64_t found_s = 0;                         ///< seconds since 1970, UTC
  std::string metric;                               ///< "test/accuracy"
  std::int64_t examples = 0, train_size = 0;        ///< used test examples, and all training examples; for a stream, positions
  std::int64_t seen = 0;                            ///< training examples that trials train on
  nlohmann::json floors = nlohmann::json::array();  ///< [{"name", "how", "value", "trained"}], as in FoundFloors
  std::vector<std::string> left_out;                ///< predictors that ran out of time: any of them may be the strongest
};

/// A file that a history stores for an attempt, in a folder beside the history (db/history/artifacts.h).
struct Artifact {
  std::string kind;           ///< "output", "weights" or "checkpoints"
  std::int64_t bytes = 0;     ///< size of the file
  std::int64_t of_bytes = 0;  ///< original size: more than `bytes` if the file was cut
  std::string name = {};      ///< "": the attempt's only file of this kind, named by its uid
};

/// One attempt at a trial, however it ended.
struct Attempt {
  std::string uid;         ///< 32 hex digits that name the attempt in every history, and its files; "": a new uid is drawn
  std::string key;         ///< key of its trial
  std::int64_t fence = 0;  ///< fence of the lease under which it runs (lease.h); 0: none. Not stored
  /// True if its scheduler will retry the trial, whatever the outcome: the lease ends as if it was given back. Not stored.
  bool is_tried_again = false;
  /// Trial::resolved of the trial that ran; null: as put_trials stored it. If the attempt is done, these settings become the
  /// trial's settings. Two attempts with one key can differ in details that change no number (a file's path), or in other
  /// details that --prove accepted.
  nlohmann::json resolved = nullptr;
  std::string outcome;          ///< a name of core/records/outcome.h; a newer version may have written another name
  std::string reason;           ///< "" if done; else one line: "signal 11 (Segmentation fault)", "loss is nan at step 12", ...
  std::string output;           ///< end of the text that the trial printed
  std::int64_t started_us = 0;  ///< microseconds since 1970, UTC
  double wall_s = 0, cpu_s = 0;
  std::int64_t peak_resident_bytes = 0;
  std::int64_t step = 0, steps = 0;  ///< steps done, and steps in all; 0: not reported
  std::optional<int> signal, exit_code;
  /// Host, git, compiler, torch, processor, GPUs, library versions, variables (docs/database.md). Equal values are stored once.
  nlohmann::json environment;
  std::vector<UsedPlugin> plugins;
  std::map<std::string, double> results;  ///< final values, by metric
  /// The metric among `results` that judges the trial, as its task declares it: "test/bits_per_byte". "": none is declared.
  std::string main_metric;
  std::vector<CurvePoint> curve;
  std::vector<Artifact> artifacts;
};

/// Attempts at a trial that is not done.
struct PastTries {
  std::vector<std::string> outcomes;  ///< latest last
  std::int64_t peak_bytes = 0;        ///< largest resident memory of an attempt; 0: not known
};

struct GridTrial {
  std::string key;
  Lazy<nlohmann::json> resolved;          ///< Trial::resolved; evaluated only if the history does not know the trial
  std::optional<std::int64_t> cell = {};  ///< Trial::cell, if the study chooses values by dev
  Role role = Role::kReported;
};

/// Value that a paper reports for a trial.
struct PublishedValue {
  std::string key;  ///< key of the trial
  std::string metric;
  double value;
  std::string source;
};

/// A trial with an attempt in progress.
struct RunningTrial {
  std::string key;
  std::int64_t started_us = 0;  ///< microseconds since 1970, UTC
  std::int64_t step = 0, steps = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();  ///< the latest train/loss; NaN: none yet
};

/// Another process that reports running trials.
struct OtherRun {
  std::string host;
  std::int64_t process = 0;
  bool is_here = false;  ///< true if it runs on this host; processes of other hosts cannot be checked
  int trials = 0;
};

}  // namespace ablate::db
