// Trials that ran elsewhere, on their way into a history. No SQLite.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/records/metric.h"
#include "core/records/outcome.h"

namespace ablate::db {

/// What somebody says of a trial that did not run here.
struct ImportedTrial {
  std::string experiment;
  std::string key;  ///< by which the history where it ran knows it; "": not told
  /// By path, as tables name them ("attention.rates", seed): numbers, truth values, texts, null for what was no number.
  std::map<std::string, nlohmann::json> parameters;
  std::string outcome = std::string(outcome::kDone);  ///< one of core/records/outcome.h
  std::string reason;
  std::int64_t started_us = 0;  ///< microseconds since 1970, UTC; 0: not told
  double wall_s = 0;            ///< 0: not told
  std::string data_digest;      ///< Task::digest, by which floors are known; "": not told
  nlohmann::json environment = nlohmann::json::object();
  std::map<std::string, double> results;  ///< by metric; NaN: measured, and no number
  std::string main_metric;                ///< of the results the one that the trial is judged by; "": not told
  /// If the study chooses values by dev: GridTrial::tunes, and the paths whose values are chosen. Else empty.
  std::optional<bool> tunes;
  std::vector<std::string> tuned;
  std::size_t line = 0;  ///< of the file
};

struct ImportedFile {
  std::string name;                 ///< for the note below tables
  std::vector<std::string> paths;   ///< parameters, also those that no trial has
  std::vector<MetricInfo> metrics;  ///< of all results; what the history knows already stays as it is there
  std::vector<ImportedTrial> trials;
  std::vector<std::string> notes = {};  ///< for the person who imports it
};

/// Distinct values of parameters, by path.
using ParameterValues = std::map<std::string, std::vector<nlohmann::json>>;

/// What an import brought.
struct Imported {
  std::int64_t trials = 0;         ///< that were not there
  std::int64_t known = 0;          ///< that were imported before
  std::int64_t ran_here = 0;       ///< whose key is one of a trial that ran here: these are left out
  std::int64_t other_numbers = 0;  ///< of `trials`: an earlier import has the same parameters and seed with other numbers
  std::string first_other;         ///< "line 3: test/accuracy 75, and 70 in old.csv"; "" if there are none
};

}  // namespace ablate::db
