// Reads and writes the parts of trials' keys, and finds done trials.
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

/// Adds a text to a table that stores each text once, and returns the row's id. Internal to db/.
std::int64_t put_text(SQLite::Database& database, const char* table, const std::string& text);

/// Stores the parts of known trials, by key. Existing parts do not change.
void put_parts(SQLite::Database& database, const std::vector<std::pair<std::string, Identity>>& parts);
/// Returns the latest done attempt of each key that is done, by an attempt of its own or by a proof.
std::map<std::string, std::int64_t> done_attempts(SQLite::Database& database, const std::vector<std::string>& keys);
std::map<std::string, std::int64_t> done_attempts(const Reader& reader, const std::vector<std::string>& keys);

/// Returns, by key, the end of the latest attempt that is not done: "attempt 5 failed: ...". Other keys are left out.
std::unordered_map<std::string, std::string> last_failures(const Reader& reader, const std::vector<std::string>& keys);

/// Returns the 64-bit hash of settings, from their json_text. Done trials are found by this hash.
std::int64_t hash_of_settings(const std::string& settings);
/// Latest done attempt with given settings. Trials of one basis and setting differ only in their seeds.
struct DoneWith {
  std::int64_t attempt = 0, basis = 0, setting = 0;  ///< basis and setting: ids in the tables; 0: not known
};
/// Returns attempts by the hashes of their settings. Hashes without a done attempt are left out.
std::unordered_map<std::int64_t, DoneWith> latest_done_with(const Reader& reader, const std::vector<std::int64_t>& hashes);

/// The functions below leave out rows that cannot be read, and report them to the reader (Reader::left_out).
/// Returns done trials with these settings, latest first.
std::vector<PastTrial> done_with(const Reader& reader, const nlohmann::json& settings);
/// Returns at most `most` done trials of an experiment, latest first.
std::vector<PastTrial> done_of(const Reader& reader, const std::string& experiment, int most);
/// Returns all done trials whose parts are known, latest first.
std::vector<PastTrial> all_done(const Reader& reader);

/// Returns an attempt's environment as a JSON object; empty if there is none.
nlohmann::json environment_of(const Reader& reader, std::int64_t attempt);
struct Result {
  MetricInfo metric;
  double value;  ///< NaN if it is not a number
};
/// Returns results in the order of the metrics' names.
std::vector<Result> results_of(const Reader& reader, std::int64_t attempt);

}  // namespace ablate::db
