// The [[claim]] sections of a study. Not a part of a trial or a key.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/host/study/document.h"
#include "core/host/study/study.h"

namespace ablate {

/// A claim with its locations in the study.
struct WrittenClaim {
  Claim claim;
  Location where, row_at, against_at;
};

/// Reads [[claim]]. Errors go to diagnostics.
void read_claims(const Node& node, std::vector<WrittenClaim>& claims, Diagnostics& diagnostics);

/// Reports rows that are not exactly one setting of the reported trials, rows that name the seed or a tuned parameter, claims
/// that are made twice, and a study with claims that sets no [experiment] smallest.
void check_claims(const std::vector<WrittenClaim>& claims, const Study& study, bool has_smallest, Diagnostics& diagnostics);

/// Claims of a study that are corrected together.
struct ClaimFamily {
  std::string name;        ///< "": the claims that name no family
  std::size_t claims = 0;  ///< number of claims
  std::size_t seeds = 0;   ///< smallest number of reported seeds that both rows of a claim have
};

/// Returns the families of a study's claims, by name.
std::vector<ClaimFamily> families_of(const Study& study);

/// Claims in a study's text, with the settings that a reader of the claims needs.
struct StudyClaims {
  std::vector<Claim> claims;
  std::string name;  ///< [experiment] name; default: the file's stem
  /// Values of the task, its length, the model's layers and width, and the steps, by path, as the study's sections and
  /// overrides set them; "": not set there. A row may set other values.
  std::vector<std::pair<std::string, std::string>> context = {};
};

/// Throws ConfigError if the text is not TOML, or a claim has an error.
/// @param file path of the study
/// @param overrides in the syntax of load_study
StudyClaims claims_of(const std::string& text, const std::filesystem::path& file, const std::vector<std::string>& overrides);

}  // namespace ablate
