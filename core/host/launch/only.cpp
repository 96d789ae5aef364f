#include "core/host/launch/only.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/util/error.h"
#include "core/util/sha256.h"
#include "db/history/proofs.h"
#include "db/history/reader.h"

namespace ablate {
namespace {

/// Returns the keys in the history that --prove gave to trials whose former keys begin with these digits.
std::vector<std::string> keys_by_proof(const std::string& digits, const std::filesystem::path& database) try {
  return db::proven_for(db::Reader(database), digits);
} catch (const Error&) {  // the history is missing, or of a version without proofs
  return {};
}

}  // namespace

std::vector<const PlannedTrial*> choose(const std::vector<PlannedTrial>& planned, const std::vector<std::string>& only,
                                        const std::filesystem::path& database) {
  std::set<const PlannedTrial*> wanted;
  for (const auto& digits : only) {
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
      throw Error(
          fmt::format("--only {}: expected the first digits of a trial's key, at least 4 of 0-9 and a-f, as "
                      "`ablate show` and --dry-run show it",
                      digits));
    bool found = false;
    for (const auto& trial : planned)
      if (trial.key.starts_with(digits)) wanted.insert(&trial), found = true;
    if (!found)
      for (const auto& key : keys_by_proof(digits, database))
        for (const auto& trial : planned)
          if (trial.key == key) wanted.insert(&trial), found = true;
    if (found) continue;
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(planned.size(), 5); ++i)
      some += (i == 0 ? "" : ", ") + short_digest(planned[i].key);
    throw Error(
        fmt::format("--only {}: no trial of the study has such a key; its keys are {}{} (a key changes with the "
                    "values, the plugins' code and the data; --dry-run shows all)",
                    digits, some, planned.size() > 5 ? ", ..." : ""));
  }
  std::vector<const PlannedTrial*> found;
  for (const auto& trial : planned)
    if (only.empty() || wanted.contains(&trial)) found.push_back(&trial);
  return found;
}

}  // namespace ablate
