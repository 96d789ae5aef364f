// Which keys are proven to mean the same numbers: written, and asked.
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

/// Stores a proof. @return its number
std::int64_t put_proof(SQLite::Database& database, const Proof& proof);
/// Deletes a proof with its keys, except keys that other proofs also give. Throws Error, with the numbers of existing proofs,
/// if none has this number. @return how many keys are no longer done
std::int64_t delete_proof(SQLite::Database& database, std::int64_t number);

/// The trial of this key's own, for an attempt: where the key is another one of a trial, by a proof, it gets a trial of its
/// own, since what runs under it is other code than that trial's. 0: the key is not known.
std::int64_t own_trial(SQLite::Database& database, const std::string& key);
/// After an attempt at it: experiments that have the trial which its key was another one of have it as well, and in that one's
/// place where the attempt is done.
void put_in_place(SQLite::Database& database, const std::string& key, std::int64_t trial, bool done);

/// What proofs say of one trial.
struct ProvenKeys {
  std::string latest;              ///< key; "": no proof is of this trial
  std::set<std::string> code_now;  ///< the identities of code that they proved to give its numbers
};
ProvenKeys proven_keys(const Reader& reader, std::int64_t trial);
/// The keys that proofs gave to the trials of which a key begins with these digits.
std::vector<std::string> proven_for(const Reader& reader, const std::string& digits);

}  // namespace ablate::db
