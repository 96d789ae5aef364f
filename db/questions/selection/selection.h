// Trials with what came of them and the parameters that tell them apart: what tables and lists are made from. Internal to db/.
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

/// In SelectedTrial::cell: its grid does not choose values by dev.
inline constexpr std::int64_t kNoCell = -1;

struct SelectedTrial {
  std::int64_t id = 0;
  std::int64_t attempt = 0;     ///< the latest that is done, else the latest; 0: never run
  std::string outcome;          ///< of that attempt; "missing" where there is none, "undecided" where dev chose none (tuning.h)
  std::int64_t experiment = 0;  ///< as one of whose trials it was selected; 0: of the whole history
  std::int64_t setting = 0, seed = 0;  ///< its parameters but the seed, and the seed's value, by id; 0: it has none
  std::int64_t cell = kNoCell;         ///< of the experiment's grid, as GridTrial::cell
  bool tunes = false;                  ///< GridTrial::tunes
  /// Of that attempt, by id; 0: it does not say.
  std::int64_t plugin_set = 0, environment = 0, main_metric = 0;
};

struct Selection {
  std::vector<SelectedTrial> trials;  ///< in grid order for one experiment, else by id
  /// Trials left out because the same settings have a later trial: a plugin, the data or ablate itself has changed since, or
  /// both were imported.
  std::size_t superseded = 0;
  std::size_t superseded_imports = 0;  ///< of these: imported, and so is the later one
  /// Trials left out because the experiment's latest grid no longer has them.
  std::size_t earlier = 0;
};

/// Some of a selection's trials: their places.
using Members = std::vector<std::size_t>;

/// The trials of an experiment's latest grid; or of the whole history, and then those that no latest grid has any more if they
/// ever ran.
Selection select_trials(const Reader& reader, std::optional<std::int64_t> experiment);

/// That an experiment has no trials, or ("") a history.
std::string no_trials_text(const Reader& reader, const std::string& experiment);

/// By number of a trial the digits of its key that tell it for people (as many as `ablate show` prints).
std::map<std::int64_t, std::string> load_keys(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// A row of the table "value" with its own type: integer, real (null where it was no number), boolean or text.
nlohmann::ordered_json stored_value(const std::string& type, const std::string& text, std::int64_t integer, double real);

/// One parameter over the trials of a selection.
struct Axis {
  struct Value {
    std::string text;
    bool is_number = false;  ///< number holds: a number, a truth value, or a single rate
    double number = 0;
    nlohmann::ordered_json json;  ///< with its own type: number, truth value or text
  };
  std::string path;
  std::vector<Value> values;  ///< distinct, in order of first appearance
  std::vector<int> of_trial;  ///< index into values by trial; -1: the trial has no such parameter

  /// Returns the trial's value; nullptr if it has no such parameter.
  const Value* of(std::size_t trial) const {
    return of_trial[trial] < 0 ? nullptr : &values[static_cast<std::size_t>(of_trial[trial])];
  }
};

Axis load_axis(const Reader& reader, const std::string& path, std::int64_t path_id, const std::vector<SelectedTrial>& trials);
/// Loads an axis by its path alone. It has no values if the history has no such parameter.
Axis load_axis(const Reader& reader, const std::string& path, const std::vector<SelectedTrial>& trials);
/// Returns true for each trial whose value of a parameter satisfies `is`.
std::vector<bool> trials_where(const Reader& reader, const std::string& path, const std::vector<SelectedTrial>& trials,
                               const std::function<bool(const Axis::Value&)>& is);

/// All parameters with at least two values among the trials, ordered by path. Leaves out parameters that an attention's name
/// shows (db/questions/selection/attention_names.h).
std::vector<Axis> varying_axes(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// What was known of a plugin when an attempt that used it started.
struct PluginUse {
  std::int64_t plugin;
  std::string verdict, failed_checks;
  std::string place;                            ///< UsedPlugin::place
  std::int64_t length = 0, checked_length = 0;  ///< UsedPlugin::length, and up to which it was checked there; 0: not known
};
/// By SelectedTrial::plugin_set what the attempts of these trials used, in the order in which those ran.
std::vector<std::pair<std::int64_t, std::vector<PluginUse>>> load_plugin_sets(const Reader& reader,
                                                                              const std::vector<SelectedTrial>& trials);

/// The environment of each trial's attempt, by id; 0 for what is not done.
std::vector<std::int64_t> environment_ids(const std::vector<SelectedTrial>& trials);

/// What each trial's attempt says that its metric is, by id; 0 for what is not done or does not say.
std::vector<std::int64_t> main_metric_ids(const std::vector<SelectedTrial>& trials);

/// A metric's value of each trial's attempt; nothing where the attempt has none. Of attempts that are done only.
std::vector<std::optional<double>> load_results(const Reader& reader, std::int64_t metric_id,
                                                const std::vector<SelectedTrial>& trials);

/// What the trials say that they are judged by (Attempt::main_metric), each such metric once, in the trials' order. Where none
/// says so: test/accuracy, else dev/accuracy, else train/step_time, else the first metric with a direction; of those that any
/// of the trials has a value of. The score of a trial that ran for a bench says that it runs, not what it learned: it comes
/// after train/step_time. Attempts without `run_for` count as a study's. Never a metric of a group; none where there are no
/// values.
std::vector<Reader::StoredMetric> main_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials);

}  // namespace ablate::db
