// Query for an ablation table.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/records/study_match.h"
#include "db/history/reader.h"
#include "db/report/statistics.h"
#include "db/types/effects.h"
#include "db/types/table.h"

namespace ablate::db {

struct TableRequest {
  std::vector<std::string> experiments;  ///< empty: all trials of the history; several: the experiment is also a row
  /// Paths of parameters, as in the history ("attention") or as in a study ("attention.plugin"). Blanks around a name are
  /// ignored, also in metrics. Empty: all parameters that vary among the trials, except the seed and the columns. If all names
  /// begin with "!", the same default without the named parameters.
  std::vector<std::string> rows;
  std::vector<std::string> columns;  ///< empty: the task, if it varies and is no row
  std::vector<std::string> metrics;  ///< empty: main_metrics of the trials (db/questions/selection/selection.h)
  std::vector<std::string> where;    ///< a trial must meet all of these conditions (db/questions/selection/conditions.h)
  /// Shows papers' values of the same trials beside every cell, or a note if there are none.
  bool published = false;
  AskedStatistics statistics = {};
  /// Returns the match of an experiment's study ([grid.match]), from the stored text; nullopt if the study has no [grid.match].
  std::function<std::optional<StudyMatch>(const std::string& experiment)> matched_by = {};
  /// Returns an experiment's smallest difference ([experiment] smallest), from the stored text; 0 if the study sets none.
  std::function<double(const std::string& experiment)> smallest_of = {};
  /// Returns today's verdict on a plugin's code, instead of the verdict at a trial's start; nullopt if there is none.
  std::function<std::optional<PluginVerdict>(const UsedPlugin&)> verdict_today = {};
  /// Returns options (" --plugins build", as shell words) by which a command finds plugins. The argument has the paths of the
  /// plugins' libraries when the trials ran. If the function is empty, commands get no such options.
  std::function<std::string(const std::set<std::filesystem::path>&)> check_options = {};
  /// Option by which a command finds this history, " --db FILE", as shell words; "" for the default history.
  std::string database_option = {};
  std::int64_t suite = 0;           ///< version of the conformance suite: only audits of this version count
  std::int64_t floors_version = 0;  ///< version of the predictors: only floors of this version count
  /// Words of the requesting command, for Table::request. Empty: the table has no request and no keys.
  std::vector<std::string> words = {};
};

/// Makes a table over the latest grids of experiments. Throws Error with the nearest name for an unknown experiment, and with a
/// line for each unknown path, metric and condition. Also throws Error for an experiment without trials, a baseline that is not
/// exactly one row or column, a path or metric that is named twice, and exponents over columns that are no numbers.
Table make_table(const Reader& reader, const TableRequest& request);

/// Makes a table of one column with a row for each setting: its row parameters are all that vary among the trials, except
/// seeds. Throws Error as make_table does, and if nothing varies.
/// @param request its rows and columns are not used
Table make_settings_table(const Reader& reader, TableRequest request);

struct EffectsRequest {
  std::vector<std::string> experiments;  ///< see TableRequest
  std::vector<std::string> metrics;      ///< see TableRequest
  std::vector<std::string> where;        ///< see TableRequest
  /// "PATH=VALUE" conditions that identify the setting to compare other settings with; empty: Effects::changes stays empty.
  std::vector<std::string> reference;
};

/// Returns the effects for each metric. The parameters are all parameters that vary among the trials, except seeds. For a
/// parameter that dev chooses, only the chosen value counts. Throws Error as make_table does. Also throws Error if nothing
/// varies, and, with the nearest name, if the reference is not exactly one setting.
std::vector<Effects> effects(const Reader& reader, const EffectsRequest& request);

}  // namespace ablate::db
