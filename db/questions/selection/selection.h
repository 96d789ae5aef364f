// Trials with their outcomes and varying parameters, as the base of tables and lists. Internal to db/.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/history/reader.h"
#include "db/questions/selection/selection.h"

namespace ablate::db {

/// Value of SelectedTrial::cell if its grid does not choose values by dev.
inline constexpr std::int64_t kNoCell = -1;

struct SelectedTrial {
  std::int64_t id = 0;
  std::int64_t attempt = 0;     ///< latest done attempt, else the latest attempt; 0: never run
  std::string outcome;          ///< outcome of that attempt; "missing": no attempt; "undecided": dev chose no value (tuning.h)
  std::int64_t experiment = 0;  ///< the experiment for which it was selected; 0: the whole history
  std::int64_t setting = 0, seed = 0;  ///< ids of the parameters without the seed, and of the seed's value; 0: none
  std::int64_t cell = kNoCell;         ///< GridTrial::cell in the experiment's grid
  Role role = Role::kReported;         ///< GridTrial::role; for the whole history, kLonger if the trial is longer in all grids
  /// Ids for that attempt; 0: not recorded.
  std::int64_t plugin_set = 0, environment = 0, main_metric = 0;
};

struct Selection {
  std::vector<SelectedTrial> trials;  ///< in grid order for one experiment, else by id; without longer trials
  std::vector<SelectedTrial> longer;  ///< trials of Role::kLonger, in the same order
  /// Number of trials left out because a later trial has the same settings: a plugin, the data or ablate itself has changed
  /// since, or both trials were imported.
  std::size_t superseded = 0;
  std::size_t superseded_imports = 0;  ///< part of `superseded` in which both trials were imported
  /// Number of trials left out because the experiment's latest grid no longer has them.
  std::size_t earlier = 0;
};

/// Indices of some of a selection's trials.
using Members = std::vector<std::size_t>;

/// Returns the trials of an experiment's latest grid. Without an experiment, returns the trials of the whole history, including
/// trials that have run although no latest grid has them any more.
Selection select_trials(const Reader& reader, std::optional<std::int64_t> experiment);

/// Returns the message that an experiment has no trials, or, if `experiment` is "", that the history has no trials.
std::string no_trials_text(const Reader& reader, const std::string& experiment);

/// Returns the first digits of each trial's key by the trial's id, as many as `ablate show` prints.
std::map<std::int64_t, std::string> load_keys(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// Returns an entry of the table "value" with its own type in JSON: integer, real (null if not finite), boolean or text.
nlohmann::ordered_json stored_value(const std::string& type, const std::string& text, std::int64_t integer, double real);

/// One parameter over the trials of a selection.
struct Axis {
  struct Value {
    std::string text;
    bool is_number = false;  ///< true if `number` is set: for a number, a boolean or a single rate
    double number = 0;
    nlohmann::ordered_json json;  ///< with its own type: number, boolean or text
  };
  std::string path;
  std::vector<Value> values;  ///< distinct, in order of first appearance
  std::vector<int> of_trial;  ///< index into values by trial; -1: the trial does not have the parameter

  /// Returns the trial's value; nullptr if it has no such parameter.
  const Value* of(std::size_t trial) const {
    return of_trial[trial] < 0 ? nullptr : &values[static_cast<std::size_t>(of_trial[trial])];
  }
};

Axis load_axis(const Reader& reader, const std::string& path, std::int64_t path_id, const std::vector<SelectedTrial>& trials);
/// Loads an axis only by its path. The axis has no values if the history has no such parameter.
Axis load_axis(const Reader& reader, const std::string& path, const std::vector<SelectedTrial>& trials);
/// Returns true for each trial whose value of a parameter satisfies `is`.
std::vector<bool> trials_where(const Reader& reader, const std::string& path, const std::vector<SelectedTrial>& trials,
                               const std::function<bool(const Axis::Value&)>& is);

/// Returns all parameters with at least two values among the trials, ordered by path. Leaves out parameters that an attention's
/// name shows (db/questions/selection/attention_names.h).
std::vector<Axis> varying_axes(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// A plugin that an attempt used, with the verdict of `ablate check` at the start of the attempt.
struct PluginUse {
  std::int64_t plugin;
  std::string verdict, failed_checks;
  std::string place;                            ///< UsedPlugin::place
  std::int64_t length = 0, checked_length = 0;  ///< UsedPlugin::length, and the checked length; 0: not known
};
/// Returns the plugins of these trials' attempts by SelectedTrial::plugin_set, in the order in which the attempts ran.
std::vector<std::pair<std::int64_t, std::vector<PluginUse>>> load_plugin_sets(const Reader& reader,
                                                                              const std::vector<SelectedTrial>& trials);

/// Returns the environment's id of each trial's attempt; 0 if the attempt is not done.
std::vector<std::int64_t> environment_ids(const std::vector<SelectedTrial>& trials);

/// Returns the id of each attempt's main metric; 0 if the attempt is not done or declares no main metric.
std::vector<std::int64_t> main_metric_ids(const std::vector<SelectedTrial>& trials);

/// Returns a metric's value for each trial's attempt; nullopt if the attempt is not done or has no value.
std::vector<std::optional<double>> load_results(const Reader& reader, std::int64_t metric_id,
                                                const std::vector<SelectedTrial>& trials);

/// Returns the distinct metrics that judge the trials (Attempt::main_metric), in the trials' order. If no trial declares such a
/// metric, returns the first metric with values in this order: test/accuracy, dev/accuracy, train/step_time, any metric with a
/// direction. If a trial ran for a bench, its scores show only that the trial runs, so these scores come after train/step_time.
/// Attempts without `run_for` count as attempts of a study. Never returns a metric of a group. Empty if there are no values.
std::vector<Reader::StoredMetric> main_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials);

}  // namespace ablate::db
