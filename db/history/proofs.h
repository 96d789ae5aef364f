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
/// Deletes a proof with its keys, except keys that other proofs also give. Returns the number of keys that are no longer done.
/// Throws Error, with the numbers of existing proofs, if none has this number.
std::int64_t delete_proof(SQLite::Database& database, std::int64_t number);

/// Returns the trial for a new attempt under a key; 0 if the key is not known. If the key only belongs to another trial by a
/// proof, creates a separate trial, because the attempt runs other code.
std::int64_t own_trial(SQLite::Database& database, const std::string& key);
/// After an attempt at own_trial: adds its trial to all experiments of the other trial that a proof connects with the key. If
/// the attempt is done, its trial replaces the other trial in those experiments.
void put_in_place(SQLite::Database& database, const std::string& key, std::int64_t trial, bool done);

/// Keys and codes that proofs give to a trial.
struct ProvenKeys {
  std::string latest;              ///< latest key; "": no proof is about this trial
  std::set<std::string> code_now;  ///< identities of the code that proofs showed to give the trial's numbers
};
ProvenKeys proven_keys(const Reader& reader, std::int64_t trial);
/// Returns the proven keys of all trials that have a key beginning with these digits.
std::vector<std::string> proven_for(const Reader& reader, const std::string& digits);

}  // namespace ablate::db
