// What the keys of trials are made of, and which keys are proven to mean the same numbers. Internal tables' only readers and
// writers; what the parts mean, the scheduler knows.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace ablate::db {

/// What a trial's key is made of: what was chosen, and the code, data and versions that it was computed with.
struct KeyParts {
  nlohmann::json settings, basis;
};

/// A trial that is done.
struct PastTrial {
  std::int64_t trial = 0, run = 0;  ///< its id; the latest attempt that is done
  std::string key;
  KeyParts parts;
};

/// That trials of one basis give the numbers of another.
struct Proof {
  std::int64_t proven_us = 0;  ///< microseconds since 1970, UTC
  nlohmann::json before, now;  ///< what of the basis differs
  nlohmann::json environment;
  std::vector<std::int64_t> runs;                             ///< that were repeated
  std::vector<std::pair<std::string, std::int64_t>> aliases;  ///< key, and the trial that it stands for as well
};

/// Of trials that are known, by key. Those that have parts already keep them.
void put_parts(SQLite::Database& database, const std::vector<std::pair<std::string, KeyParts>>& parts);
void put_proof(SQLite::Database& database, const Proof& proof);

/// Of those keys that are done, the latest run that is.
std::map<std::string, std::int64_t> done_runs(SQLite::Database& database, const std::vector<std::string>& keys);
/// Of those keys that have run and are not done, why: "run 5 failed: ...".
std::map<std::string, std::string> last_failures(SQLite::Database& database, const std::vector<std::string>& keys);
/// Done trials with these settings, the latest first.
std::vector<PastTrial> done_with(SQLite::Database& database, const nlohmann::json& settings);
/// Done trials of an experiment, the latest first, at most `most`.
std::vector<PastTrial> done_of(SQLite::Database& database, const std::string& experiment, int most);
/// All done trials whose parts are known.
std::vector<PastTrial> all_done(SQLite::Database& database);

}  // namespace ablate::db
