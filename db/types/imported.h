// Trials that ran elsewhere, before they are imported into a history. No SQLite.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/records/metric.h"
#include "core/records/outcome.h"
#include "core/records/role.h"

namespace ablate::db {

/// A trial that did not run here, as its file describes it.
struct ImportedTrial {
  std::string experiment;
  std::string key;  ///< the trial's key in the history where it ran; "": not known
  /// Parameters by path, as tables name them ("attention.rates", seed): numbers, booleans, texts, null if not finite.
  std::map<std::string, nlohmann::json> parameters;
  std::string outcome = std::string(outcome::kDone);  ///< a name of core/records/outcome.h
  std::string reason;
  std::int64_t started_us = 0;  ///< microseconds since 1970, UTC; 0: not known
  double wall_s = 0;            ///< 0: not known
  std::string data_digest;      ///< Task::digest, which identifies floors; "": not known
  nlohmann::json environment = nlohmann::json::object();
  std::map<std::string, double> results;  ///< by metric; NaN: measured, but not a number
  std::string main_metric;                ///< the metric that judges the trial, one of `results`; "": not known
  /// GridTrial::role, and the paths of the chosen values if the study chooses values by dev. Without a role, the trial is
  /// reported, and its study chooses no values.
  std::optional<Role> role;
  std::vector<std::string> tuned;
  std::size_t line = 0;  ///< line in the file
};

struct ImportedFile {
  std::string name;                 ///< shown in the note below tables
  std::vector<std::string> paths;   ///< all parameters, even if no trial has them
  std::vector<MetricInfo> metrics;  ///< metrics of all results; a metric that the history already knows does not change
  std::vector<ImportedTrial> trials;
  std::vector<std::string> notes = {};  ///< messages for the person who imports the file
};

/// Distinct values of parameters, by path.
using ParameterValues = std::map<std::string, std::vector<nlohmann::json>>;

struct Imported {
  std::int64_t trials = 0;         ///< new trials
  std::int64_t known = 0;          ///< trials that were imported before
  std::int64_t ran_here = 0;       ///< trials left out because a trial with the same key ran here
  std::int64_t other_numbers = 0;  ///< new trials whose numbers differ from an earlier import of the same parameters and seed
  std::string first_other;         ///< "line 3: test/accuracy 75, and 70 in old.csv"; "" if there are none
};

}  // namespace ablate::db
