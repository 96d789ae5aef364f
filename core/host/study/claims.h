// The [[claim]] sections of a study. Not a part of a trial or a key.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/host/study/document.h"
#include "core/host/study/study.h"

namespace ablate {

/// A claim with the place where the study makes it.
struct WrittenClaim {
  Claim claim;
  Location where, row_at, against_at;
};

/// Reads [[claim]]. Errors go to diagnostics.
void read_claims(const Node& node, std::vector<WrittenClaim>& claims, Diagnostics& diagnostics);

/// Reports claims whose rows match no reported trial, and a study with claims that sets no [experiment] smallest.
void check_claims(const std::vector<WrittenClaim>& claims, const Study& study, bool has_smallest, Diagnostics& diagnostics);

/// Returns the claims of each family, by its name ("": the claims that name none).
std::map<std::string, std::vector<Claim>> families_of(const std::vector<Claim>& claims);

/// Returns the error of a study whose seeds cannot decide its claims: with n seeds the least p of the exact test is 2/2^n, and
/// a family of m claims needs m times that to be at most 0.05. Returns "" if they can.
std::string too_few_seeds_text(const Study& study);

/// Returns the claims in the text of a study that has run, or none if it is not TOML any more.
std::vector<Claim> claims_of(const std::string& text, const std::string& file);

}  // namespace ablate
