// Parts of SQL statements that several questions share. Internal to db/.
#pragma once

#include <fmt/format.h>

#include <string>

namespace ablate::db {

/// Of the attempts at one trial (alias a, or none) the latest first: by the time when each started, but behind those that stood
/// in its history already, whatever the clock said. In every history that has them the order is the same.
inline constexpr const char* kLatestFirst = "turn DESC, uid DESC";

/// Returns SQL for the id of trial `t`'s value at a path, NULL if there is none. @param path its id, as SQL
inline std::string value_at(const std::string& path) {
  return fmt::format(
      "coalesce((SELECT value FROM parameter WHERE path = {0} AND setting = t.setting), (SELECT id FROM value WHERE id = "
      "t.seed AND path = {0}))",
      path);
}

}  // namespace ablate::db
