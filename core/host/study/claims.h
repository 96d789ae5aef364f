// The [[claim]] sections of a study. Not a part of a trial or a key.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
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

/// Reports rows that are not exactly one setting of the reported trials, rows that name the seed or a tuned parameter, claims
/// that are made twice, and a study with claims that sets no [experiment] smallest.
void check_claims(const std::vector<WrittenClaim>& claims, const Study& study, bool has_smallest, Diagnostics& diagnostics);

/// Returns the claims of each family, by its name ("": the claims that name none).
std::map<std::string, std::vector<Claim>> families_of(const std::vector<Claim>& claims);

/// Returns the error of a study whose seeds cannot decide its claims: with n common seeds of two rows the least p of the exact
/// test is 2/2^n, and a family of m claims needs m times that to be at most 0.05. Returns "" if they can.
std::string too_few_seeds_text(const Study& study);

/// Claims of a study's text, with what a reader has to know beside them.
struct StudyClaims {
  std::vector<Claim> claims;
  std::string name;  ///< [experiment] name; default: the file's stem
  /// Values of the task, its length, the model's layers and width, and the steps, by path, as the study's sections and
  /// overrides set them; "": not set there. A row may have others.
  std::vector<std::pair<std::string, std::string>> context = {};
};

/// Throws ConfigError if the text is not TOML, or a claim has an error.
/// @param file path of the study @param overrides as for load_study
StudyClaims claims_of(const std::string& text, const std::filesystem::path& file, const std::vector<std::string>& overrides);

}  // namespace ablate
