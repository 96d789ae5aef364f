// A trial in a few words. Internal to db/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/history/prepared_statements.h"
#include "db/history/reader.h"
#include "db/questions/attention_names.h"

namespace ablate::db {

/// "attention=adamra attention.rates=1/2,1/4 seed=1": the parameters that vary in a trial's experiment, of several in the
/// latest. What an experiment's parameters are is asked once.
class TrialLabels {
 public:
  /// @param reader outlives it
  explicit TrialLabels(const Reader& reader);

  /// "" for a trial of no experiment.
  std::string of(std::int64_t trial);

 private:
  std::optional<std::string> value(const std::string& path, std::int64_t trial);
  std::vector<std::string> paths_of(std::int64_t experiment);

  const Reader& reader_;
  const AttentionNames names_;
  SQLite::Statement experiment_, value_, composed_;
  std::map<std::int64_t, std::vector<std::string>> paths_;
};

}  // namespace ablate::db
