// Readable names for a trial, and for an attention that is made of several. Internal to db/.
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

/// Names attentions by their plugins: "linear"; one for each layer "linear / softmax"; a mixture "mixed(local, linear)".
class AttentionNames {
 public:
  /// @param paths all of a history: ids
  explicit AttentionNames(const std::map<std::string, std::int64_t>& paths);

  /// The paths that a name is made of beside "attention": entries of lists (attention.0), parts (attention.parts.1), parts of
  /// entries; ids.
  const std::map<std::string, std::int64_t>& entries() const { return entries_; }

  /// @param plugin_at the plugin at a path; nothing where the trial has no such path. @return "" where there is none at all
  using PluginAt = std::function<std::optional<std::string>(const std::string& path)>;
  std::string name(const PluginAt& plugin_at) const { return name(setting::kAttention, plugin_at); }

 private:
  std::string name(const std::string& path, const PluginAt& plugin_at) const;

  std::map<std::string, std::int64_t> entries_;
  std::map<std::string, std::map<int, std::string>> layers_, parts_;  ///< path -> index -> path of the entry
};

/// The axis "attention", by name. No values where no trial has any.
Axis load_attention(const Reader& reader, const std::vector<SelectedTrial>& trials);

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
