// Parameters that make a table's rows and columns. Internal to db/.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/questions/selection/selection.h"

namespace ablate::db {

inline constexpr const char* kExperiment = "experiment";  ///< path of a trial's experiment, if experiments are named

/// Axes of a table. They stay at their addresses when this object is moved.
struct TableAxes {
  std::vector<Axis> varying;                    ///< result of varying_axes
  std::vector<std::unique_ptr<Axis>> constant;  ///< requested axes that do not vary
  std::vector<std::string> row_paths, column_paths;
  std::vector<const Axis*> rows, columns;  ///< pointers into the two members above
};

/// Ids and names of experiments.
using NamedExperiments = std::vector<std::pair<std::int64_t, std::string>>;

/// Paths that a request for a table names.
struct RequestedPaths {
  std::vector<std::string> rows, columns;  ///< see TableRequest, also for defaults
  std::vector<std::string> without;        ///< paths that the default rows leave out; unused if `rows` names rows
  std::vector<std::string> apart;          ///< paths that are shown elsewhere, and are rows only if they are named
};

/// Returns the axis of a parameter, varying or not; nullopt if no trial of the history has it.
/// @param known Reader::paths()
std::optional<Axis> find_axis(const Reader& reader, const std::vector<SelectedTrial>& trials,
                              const std::map<std::string, std::int64_t>& known, const std::string& path);

/// Returns the message that the path of an option is not in the history, with the nearest names.
/// @param varying axes to list if no name is near
std::string unknown_path(const char* option, const std::string& path, const std::map<std::string, std::int64_t>& known,
                         const std::vector<Axis>& varying);

/// Chooses rows and columns. If several experiments are named, each trial's experiment is a row by default.
/// @param experiments in the order of the rows
/// @param wrong gets a line, with the nearest names, for each path that is not in the history
TableAxes choose_axes(const Reader& reader, const std::vector<SelectedTrial>& trials, const NamedExperiments& experiments,
                      const RequestedPaths& requested, std::vector<std::string>& wrong);

}  // namespace ablate::db
