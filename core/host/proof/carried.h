// To which trials of the history proofs give another key, and which they leave behind. Torch-free.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/host/proof/coverage.h"
#include "core/registry/catalog.h"
#include "db/history/reader.h"
#include "db/types/lineage.h"

namespace ablate {

/// What of the code is otherwise: {"plugins": {old code: new code}, "runtime": [old, new], "kernels": [old, new or null]}.
using Change = nlohmann::json;

/// "attention.factor: its default was 1 and is 20". @param before what the trial had, by path
std::string default_text(const std::string& path, const nlohmann::json& before, const nlohmann::json& now);

/// The basis under the new code; null where the change does not concern it.
nlohmann::json changed(nlohmann::json basis, const Change& change);

/// The proofs of one command, one after the other: proofs are a chain, so each goes on from what those before it have given,
/// in this command or an earlier one.
class Carried {
 public:
  /// Both outlive it.
  Carried(const db::Reader& reader, const Catalog& catalog);

  /// The keys that a proof of this change gives: to done trials by each of their keys, where all values were repeated, and
  /// where the new code's defaults make none of them another one.
  std::vector<db::Alias> carry(const Change& change, const Coverage& coverage);

  /// Trials that are done by those keys under the code of today, whichever plugins they have, and were not before.
  std::size_t kept() const;

  /// Those that one of the changes concerns, and that are not done under the code of today, with what keeps each from it:
  /// "attempts 3, 4: attention.heads = 4 was not repeated".
  std::vector<std::string> left() const;

  /// Whether another proof could give one of those its key: what keeps it is that something was not repeated.
  bool may_prove_more() const;

 private:
  /// A trial that one of the changes concerns.
  struct Concerned {
    std::int64_t attempt = 0;
    Identity today;                  ///< with the code of today
    std::string gone;                ///< why there is no such code; "": there is
    std::set<std::string> missing;   ///< what was not repeated, a text for each change
    std::set<std::string> defaults;  ///< that are others now
  };
  /// What the defaults of the changed code are to a trial that was done under the code of before.
  struct NewDefaults {
    std::vector<std::string> changed;                 ///< in words; it would be another trial under its key
    nlohmann::json added = nlohmann::json::object();  ///< of parameters that it did not have: values by path
  };
  NewDefaults new_defaults(const db::PastTrial& past, const nlohmann::json& basis) const;
  Concerned concerned(const db::PastTrial& past) const;
  /// Those that are not done under the code of today, by trial.
  std::map<std::int64_t, const Concerned*> behind() const;
  std::string why_left(std::int64_t trial, const Concerned& one) const;

  const db::Reader& reader_;
  const Catalog& catalog_;
  std::vector<db::PastTrial> known_;  ///< by each key: first the trials' own, last those that were given here
  std::set<std::string> given_;       ///< keys
  std::map<std::int64_t, Concerned> concerned_;
};

}  // namespace ablate
