// Parts of SQL statements that several queries share. Internal to db/.
#pragma once

#include <fmt/format.h>

#include <string>

namespace ablate::db {

/// SQL order of the attempts at one trial, latest first. An attempt's turn is its start time, or, if the clock went back, the
/// trial's latest turn plus 1. Every history orders the same attempts equally.
inline constexpr const char* kLatestFirst = "turn DESC, uid DESC";

/// Returns SQL for the id of trial `t`'s value at a path, NULL if there is none. `path` is SQL for the path's id.
inline std::string value_at(const std::string& path) {
  return fmt::format(
      "coalesce((SELECT value FROM parameter WHERE path = {0} AND setting = t.setting), (SELECT id FROM value WHERE id = "
      "t.seed AND path = {0}))",
      path);
}

}  // namespace ablate::db
