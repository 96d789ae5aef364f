// What experiments a history has, and what people have said of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

struct ExperimentLine {
  std::string name, description, file;
  std::vector<std::string> tags;  ///< sorted
  /// Of its latest grid: all, those that are done, those that have run and are not done, those that have not run.
  std::int64_t trials = 0, done = 0, failed = 0, missing = 0;
  std::int64_t earlier = 0;    ///< trials that only an earlier grid of it had
  std::int64_t latest_us = 0;  ///< when the latest attempt started, microseconds since 1970, UTC; 0: there is none
};

/// In the order in which they were first run.
std::vector<ExperimentLine> list_experiments(const Reader& reader);

struct ExperimentDetails : ExperimentLine {
  struct Note {
    std::int64_t written_us = 0;  ///< microseconds since 1970, UTC
    std::string text;
  };
  nlohmann::json overrides = nlohmann::json::array();  ///< of its latest run, as --set had them
  std::string text;                                    ///< the study, as its latest run read it
  std::vector<Note> notes;                             ///< in the order in which they were written
};

/// Throws Error as Reader::experiment.
ExperimentDetails show_experiment(const Reader& reader, const std::string& name);

}  // namespace ablate::db
