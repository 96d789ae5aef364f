// Readable names for trials, and for attentions that consist of several attentions. Internal to db/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/records/setting_paths.h"
#include "db/history/prepared_statements.h"
#include "db/history/reader.h"
#include "db/questions/selection/selection.h"

namespace ablate::db {

/// Names attentions by their plugins: "linear"; "linear / softmax" for a list of layers; "mixed(local, linear)" for a mixture.
class AttentionNames {
 public:
  /// @param paths all paths of a history, with their ids
  explicit AttentionNames(const std::map<std::string, std::int64_t>& paths);

  /// Returns the paths below "attention" whose plugins appear in names, with the paths' ids: entries of lists (attention.0),
  /// parts (attention.parts.1), and parts of entries.
  const std::map<std::string, std::int64_t>& entries() const { return entries_; }

  /// Returns the plugin at a path; nullopt if the trial does not have the path. name() returns "" if no path has a plugin.
  using PluginAt = std::function<std::optional<std::string>(const std::string& path)>;
  std::string name(const PluginAt& plugin_at) const { return name(setting::kAttention, plugin_at); }

 private:
  std::string name(const std::string& path, const PluginAt& plugin_at) const;

  std::map<std::string, std::int64_t> entries_;
  std::map<std::string, std::map<int, std::string>> layers_, parts_;  ///< path -> index -> path of the entry
};

/// Loads the axis "attention", whose values are the names of attentions. The axis has no values if no trial has an attention.
Axis load_attention(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// Labels of trials by the parameters that vary in the trial's latest experiment, "attention=adamra attention.rates=1/2,1/4
/// seed=1". Caches the parameters of each experiment.
class TrialLabels {
 public:
  /// @param reader must outlive this object
  explicit TrialLabels(const Reader& reader);

  /// Returns a trial's label; "" if the trial is in no experiment.
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
