// Experiments of a history, with people's tags and notes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

struct ExperimentLine {
  std::string name, description, file;
  std::vector<std::string> tags;  ///< sorted
  /// Trials of the latest grid: all, done, not done after a run, and not yet run.
  std::int64_t trials = 0, done = 0, failed = 0, missing = 0;
  std::int64_t earlier = 0;    ///< trials that only an earlier grid had
  std::int64_t latest_us = 0;  ///< start of the latest attempt in microseconds since 1970, UTC; 0: there is none
};

/// Returns experiments in the order in which they were first run.
std::vector<ExperimentLine> list_experiments(const Reader& reader);

struct ExperimentDetails : ExperimentLine {
  struct Note {
    std::int64_t written_us = 0;  ///< microseconds since 1970, UTC
    std::string text;
  };
  nlohmann::json overrides = nlohmann::json::array();  ///< overrides (--set) of the latest run
  std::string text;                                    ///< text of the study at the latest run
  std::vector<Note> notes;                             ///< in the order in which they were written
};

/// Throws Error with the nearest name if the experiment is not known.
ExperimentDetails show_experiment(const Reader& reader, const std::string& name);

}  // namespace ablate::db
