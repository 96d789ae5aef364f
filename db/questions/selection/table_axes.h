// Which parameters make a table's rows and columns. Internal to db/.
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

inline constexpr const char* kExperiment = "experiment";  ///< where experiments are named: which of them a trial is of

/// The axes lie where they are while this is moved.
struct TableAxes {
  std::vector<Axis> varying;                    ///< as varying_axes has them
  std::vector<std::unique_ptr<Axis>> constant;  ///< asked for, though they do not vary
  std::vector<std::string> row_paths, column_paths;
  std::vector<const Axis*> rows, columns;  ///< into the two above
};

/// Id and name.
using NamedExperiments = std::vector<std::pair<std::int64_t, std::string>>;

/// Paths that a table is asked for.
struct AskedPaths {
  std::vector<std::string> rows, columns;  ///< as in TableRequest; where none are named, as it says there
  std::vector<std::string> without;        ///< where no rows are named: are none
  std::vector<std::string> apart;          ///< are shown otherwise: no rows unless they are named
};

/// One parameter, also one that does not vary; nothing where no trial of the history has it. @param known Reader::paths()
std::optional<Axis> find_axis(const Reader& reader, const std::vector<SelectedTrial>& trials,
                              const std::map<std::string, std::int64_t>& known, const std::string& path);

/// A line that says that the path an option names is not known, with the nearest names. @param varying is named where none is
/// near
std::string unknown_path(const char* option, const std::string& path, const std::map<std::string, std::int64_t>& known,
                         const std::vector<Axis>& varying);

/// @param experiments named by their ids, in the order of the rows: of several each trial's is a row, unless it is asked for
/// otherwise @param wrong gets a line for each path that the history does not know, with the nearest names
TableAxes choose_axes(const Reader& reader, const std::vector<SelectedTrial>& trials, const NamedExperiments& experiments,
                      const AskedPaths& asked, std::vector<std::string>& wrong);

}  // namespace ablate::db
