// Finds names that a person may have meant by an unknown name. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::db {

/// Returns names in the order in which the experiments were added.
std::vector<std::string> experiment_names(SQLite::Database& database);
/// Returns the id of an experiment; 0 if there is none with that name.
std::int64_t find_experiment(SQLite::Database& database, const std::string& name);
/// Returns the id of an experiment. Throws Error with the nearest name if there is none.
std::int64_t expect_experiment(SQLite::Database& database, const std::filesystem::path& file, const std::string& name);

/// Returns an experiment's tags in alphabetical order.
std::vector<std::string> tags_of(SQLite::Database& database, std::int64_t experiment);

/// Returns the names whose last parts are `end`: with '.', "rates" matches attention.rates and does not match task.narates.
std::vector<std::string> ending_in(const std::vector<std::string>& names, char separator, const std::string& end);

/// Returns a group's metrics in the order of their numbers: ...@pairs=8, ...@pairs=16, ... for "test/accuracy@pairs".
/// @param metrics all names
/// @param group name of a group without a value
std::vector<std::string> groups_of(const std::vector<std::string>& metrics, const std::string& group);

/// Suggests metrics for an unknown name. For a name without a domain, suggests test/NAME, then all other domains. For an
/// unknown group, suggests the groups that exist.
std::vector<std::string> near_metrics(const std::vector<std::string>& metrics, const std::string& name);

}  // namespace ablate::db
