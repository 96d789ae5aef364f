// What the keys of trials are made of, and which of them are done: written, and asked.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/types/lineage.h"
#include "db/types/records.h"

namespace SQLite {
class Database;
}

namespace ablate::db {

class Reader;

/// A row each of a table that never holds the same text twice. Internal to db/. @return its id
std::int64_t put_text(SQLite::Database& database, const char* table, const std::string& text);

/// Of trials that are known, by key. Those that have parts already keep them.
void put_parts(SQLite::Database& database, const std::vector<std::pair<std::string, Identity>>& parts);
/// Of those keys that are done, by themselves or by a proof, the latest attempt that is.
std::map<std::string, std::int64_t> done_attempts(SQLite::Database& database, const std::vector<std::string>& keys);
std::map<std::string, std::int64_t> done_attempts(const Reader& reader, const std::vector<std::string>& keys);

/// How the latest attempt of a key ended that is not done, by key: "attempt 5 failed: ...". Of keys without one nothing.
std::unordered_map<std::string, std::string> last_failures(const Reader& reader, const std::vector<std::string>& keys);

/// Of settings, as json_text has them: 64 bits, by which done trials are found.
std::int64_t hash_of_settings(const std::string& settings);
/// The latest done trial of some settings. Those of one basis and setting differ in their seeds alone.
struct DoneWith {
  std::int64_t attempt = 0, basis = 0, setting = 0;  ///< the latter two as the tables number them; 0: not known
};
/// By the settings' hashes. Of hashes without one nothing.
std::unordered_map<std::int64_t, DoneWith> latest_done_with(const Reader& reader, const std::vector<std::int64_t>& hashes);

/// Of all that follow, what cannot be read is left out, and the reader says so (Reader::left_out).
/// Done trials with these settings, the latest first.
std::vector<PastTrial> done_with(const Reader& reader, const nlohmann::json& settings);
/// Done trials of an experiment, the latest first, at most so many.
std::vector<PastTrial> done_of(const Reader& reader, const std::string& experiment, int most);
/// Returns all done trials whose parts are known, the latest first.
std::vector<PastTrial> all_done(const Reader& reader);

/// An object; empty where there is none.
nlohmann::json environment_of(const Reader& reader, std::int64_t attempt);
struct Result {
  MetricInfo metric;
  double value;  ///< NaN where it is none
};
/// In the order of the metrics' names.
std::vector<Result> results_of(const Reader& reader, std::int64_t attempt);

}  // namespace ablate::db
