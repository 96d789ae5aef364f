// The command that repeats an attempt. Internal to db/.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

/// The command that runs a trial of an experiment's latest grid again, and why that is not what ran; "" where nothing is known
/// against it.
struct Repeat {
  std::string command, note;
};

/// As an experiment had it when it was last run.
struct StoredStudy {
  std::int64_t experiment;
  std::string file, text;
  nlohmann::ordered_json overrides;
  bool listed;  ///< whether its latest grid has the trial
};

/// @param key of the trial @param folders of plugins, as named_folders has them @param parameters of the trial, by path
/// @param changed plugins whose code is another today, and with it the trial's key
Repeat repeat_of(const StoredStudy& study, const std::string& key, const std::vector<std::string>& folders,
                 const nlohmann::ordered_json& parameters, const std::vector<std::string>& changed);

/// Those of the libraries of an experiment's trials that are looked at only where --plugins names them, each once. A study is
/// read whole, whichever of its trials are run: it needs the plugins of all of them.
std::vector<std::string> named_folders(const Reader& reader, std::int64_t experiment,
                                       const std::vector<std::filesystem::path>& default_folders);

}  // namespace ablate::db
