// The question for an ablation table.
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
  std::vector<std::string> experiments;  ///< none: all trials of the history; several: the experiment is a row, too
  /// Paths of parameters, as the history has them ("attention") or as a study writes them ("attention.plugin"); blanks around
  /// a name do not count, in metrics neither. No rows: all that vary among the trials except the seed and what the columns
  /// show; rows that begin with "!" (all of them): all of those but these.
  std::vector<std::string> rows;
  std::vector<std::string> columns;  ///< none: the task, where it varies and is no row
  std::vector<std::string> metrics;  ///< none: main_metric of the trials (db/questions/selection/selection.h)
  std::vector<std::string> where;    ///< conditions, of which all must hold of a trial (db/questions/selection/conditions.h)
  /// Shows papers' values of the same trials beside every cell, or a note if there are none.
  bool published = false;
  AskedStatistics statistics = {};
  /// What the study of an experiment matches ([grid.match]), by the text that the history has of it; nothing where it does not.
  std::function<std::optional<StudyMatch>(const std::string& experiment)> matched_by = {};
  /// What is known today of a plugin's code, in place of what was known when a trial started; nothing where nothing is.
  std::function<std::optional<PluginVerdict>(const UsedPlugin&)> verdict_today = {};
  /// What the command that checks plugins needs to find them, " --plugins build", for a shell; of their libraries' paths as
  /// they ran. Empty: nothing.
  std::function<std::string(const std::set<std::filesystem::path>&)> check_options = {};
  /// What a command needs to find this history, " --db FILE", for a shell; "" where it is the default one.
  std::string database_option = {};
  std::int64_t suite = 0;           ///< version of the suite whose audits count
  std::int64_t floors_version = 0;  ///< of the predictors whose floors count
  /// Of the command that asks: Table::request, with the trials' keys. Empty: the table has neither.
  std::vector<std::string> words = {};
};

/// Of an experiment its latest grid counts. Throws Error with the nearest name for an experiment that the history does not
/// know, one with a line for each path, metric and condition that it does not know, one for an experiment without trials, for a
/// baseline that is not exactly one row or column, for a path or a metric that is named twice, and for exponents over columns
/// that are no numbers.
Table make_table(const Reader& reader, const TableRequest& request);

struct EffectsRequest {
  std::vector<std::string> experiments;  ///< as in TableRequest
  std::vector<std::string> metrics;      ///< likewise
  std::vector<std::string> where;        ///< likewise
  /// "PATH=VALUE" of the setting that others are compared with, as many as it takes to name one; none: no changes.
  std::vector<std::string> reference;
};

/// One for each metric. The parameters are all that vary among the trials, but for seeds and for what dev chooses: there the
/// chosen value counts. Throws Error as make_table does, where nothing varies, and for a reference that is not exactly one
/// setting, with the nearest name.
std::vector<Effects> effects(const Reader& reader, const EffectsRequest& request);

}  // namespace ablate::db
