// What a person may have meant by a name that is not known. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::db {

/// In the order in which they came.
std::vector<std::string> experiment_names(SQLite::Database& database);
/// The id of an experiment; 0: there is none of that name.
std::int64_t find_experiment(SQLite::Database& database, const std::string& name);
/// The same; throws Error with the nearest name where there is none.
std::int64_t expect_experiment(SQLite::Database& database, const std::filesystem::path& file, const std::string& name);

/// An experiment's tags, in their order.
std::vector<std::string> tags_of(SQLite::Database& database, std::int64_t experiment);

/// Those of the names that end in a whole part, or several, that is `end`: of "rates" with '.' attention.rates, not
/// task.narates.
std::vector<std::string> ending_in(const std::vector<std::string>& names, char separator, const std::string& end);

/// The metrics of the groups that a metric's name says without a value ("test/accuracy@pairs": of 8, of 16, ...), by their
/// numbers. @param metrics all names
std::vector<std::string> groups_of(const std::vector<std::string>& metrics, const std::string& group);

/// For a metric that is not known: of a name without its domain those in all domains, test first; of a group that is not there
/// those that are.
std::vector<std::string> near_metrics(const std::vector<std::string>& metrics, const std::string& name);

}  // namespace ablate::db
