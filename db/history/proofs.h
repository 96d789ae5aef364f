// Reads and writes proofs: keys that are proven to mean the same numbers.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "db/types/lineage.h"

namespace SQLite {
class Database;
}

namespace ablate::db {

class Reader;

/// Stores a proof, and returns its number.
std::int64_t put_proof(SQLite::Database& database, const Proof& proof);
/// Deletes a proof with its keys, and keys of other proofs that rest on a deleted key (`rests_on`). A key stays if another
/// proof also gives it. Returns the number of keys that are no longer done. Throws Error if no proof has this number; the
/// message has the numbers of existing proofs.
std::int64_t delete_proof(SQLite::Database& database, std::int64_t number);

/// Returns the trial for a new attempt under a key; 0 if the key is not known. If only a proof gives the key, creates a
/// separate trial, because the attempt runs other code than the proof's trial.
std::int64_t own_trial(SQLite::Database& database, const std::string& key);
/// Must be called after an attempt at the trial of own_trial(). If a proof connects the key with another trial, adds `trial` to
/// all experiments of that other trial. If `done`, `trial` replaces the other trial in these experiments.
void put_in_place(SQLite::Database& database, const std::string& key, std::int64_t trial, bool done);

/// Keys and codes that proofs give to a trial.
struct ProvenKeys {
  std::string latest;              ///< latest key; "": no proof is about this trial
  std::set<std::string> code_now;  ///< identities of code that gives the trial's numbers, as proofs have shown
};
ProvenKeys proven_keys(const Reader& reader, std::int64_t trial);
/// Returns the proven keys of all trials that have a key beginning with these digits.
std::vector<std::string> proven_for(const Reader& reader, const std::string& digits);

}  // namespace ablate::db
